/// A condition on documents, for ``Query/whereFilter(_:)``; conditions can be combined.
public struct Filter: Sendable {
    indirect enum Kind: Sendable {
        case field(any FieldName, FilterValue.Operator, Result<Operand, FirestoreError>)
        case and([Filter])
        case or([Filter])
    }

    /// The value with which a field is compared. It is parsed immediately, because an app's `Any`
    /// must not be stored.
    typealias Operand = Value

    let kind: Kind

    private init(_ kind: Kind) { self.kind = kind }

    init(_ field: some FieldName, operation: FilterValue.Operator, any: Any) {
        let operand = Result { () throws(FirestoreError) in try ValueParser.value(any) }
        kind = .field(field, operation, operand)
    }

    /// Creates a condition that is true if all filters are true.
    public static func andFilter(_ filters: [Filter]) -> Filter { Filter(.and(filters)) }

    /// Creates a condition that is true if at least one filter is true.
    public static func orFilter(_ filters: [Filter]) -> Filter { Filter(.or(filters)) }
}

extension Filter {
    public static func whereField(_ field: some FieldName, isEqualTo value: Any) -> Filter {
        Filter(field, operation: .equal, any: value)
    }

    public static func whereField(_ field: some FieldName, isNotEqualTo value: Any) -> Filter {
        Filter(field, operation: .notEqual, any: value)
    }

    public static func whereField(_ field: some FieldName, isLessThan value: Any) -> Filter {
        Filter(field, operation: .lessThan, any: value)
    }

    public static func whereField(_ field: some FieldName, isLessThanOrEqualTo value: Any) -> Filter
    { Filter(field, operation: .lessThanOrEqual, any: value) }

    public static func whereField(_ field: some FieldName, isLessOrEqualTo value: Any) -> Filter {
        Filter(field, operation: .lessThanOrEqual, any: value)
    }

    public static func whereField(_ field: some FieldName, isGreaterThan value: Any) -> Filter {
        Filter(field, operation: .greaterThan, any: value)
    }

    public static func whereField(
        _ field: some FieldName, isGreaterThanOrEqualTo value: Any
    ) -> Filter { Filter(field, operation: .greaterThanOrEqual, any: value) }

    public static func whereField(_ field: some FieldName, isGreaterOrEqualTo value: Any) -> Filter
    { Filter(field, operation: .greaterThanOrEqual, any: value) }

    public static func whereField(_ field: some FieldName, arrayContains value: Any) -> Filter {
        Filter(field, operation: .arrayContains, any: value)
    }

    public static func whereField(_ field: some FieldName, arrayContainsAny values: [Any]) -> Filter
    { Filter(field, operation: .arrayContainsAny, any: values) }

    public static func whereField(_ field: some FieldName, in values: [Any]) -> Filter {
        Filter(field, operation: .isIn, any: values)
    }

    public static func whereField(_ field: some FieldName, notIn values: [Any]) -> Filter {
        Filter(field, operation: .notIn, any: values)
    }
}

extension Filter {
    /// The condition as a value, for a query on `query`'s collection.
    func value(for query: QueryValue, in database: DatabaseID) throws(FirestoreError) -> FilterValue
    {
        switch kind {
        case .and(let filters):
            return .and(try Self.values(filters, query: query, database: database))
        case .or(let filters):
            return .or(try Self.values(filters, query: query, database: database))
        case .field(let name, let operation, let operand):
            let field = try name.resolved()
            var value = try operand.get()
            try Self.check(value, for: operation, field)
            if field.isDocumentID { value = try query.names(value, in: database) }
            return try Self.unary(field, operation: operation, value: value)
                ?? .field(field, operation, value)
        }
    }

    private static func values(
        _ filters: [Filter], query: QueryValue, database: DatabaseID
    ) throws(FirestoreError) -> [FilterValue] {
        if filters.isEmpty { throw .invalidArgument("A composite filter must have filters.") }
        var values: [FilterValue] = []
        for filter in filters { values.append(try filter.value(for: query, in: database)) }
        return values
    }

    private static func check(
        _ value: Value, for operation: FilterValue.Operator, _ field: FieldPath
    ) throws(FirestoreError) {
        guard [.isIn, .notIn, .arrayContainsAny].contains(operation) else { return }
        guard case .array(let values) = value, !values.isEmpty else {
            throw .invalidArgument("The filter on \(field) needs an array of at least one value.")
        }
    }

    /// Null and NaN have their own operators; no value is less than they are.
    private static func unary(
        _ field: FieldPath, operation: FilterValue.Operator, value: Value
    ) throws(FirestoreError) -> FilterValue? {
        let isNaN: Bool
        switch value {
        case .null: isNaN = false
        case .double(let double) where double.isNaN: isNaN = true
        default: return nil
        }
        switch operation {
        case .equal: return .unary(field, isNaN ? .isNaN : .isNull)
        case .notEqual: return .unary(field, isNaN ? .isNotNaN : .isNotNull)
        case .arrayContains: return nil
        default: throw .invalidArgument("\(field) can only compare null and NaN for equality.")
        }
    }
}

extension QueryValue {
    /// Converts ids that are compared with the document's name into names.
    func names(_ value: Value, in database: DatabaseID) throws(FirestoreError) -> Value {
        switch value {
        case .reference: return value
        case .array(let values):
            var names: [Value] = []
            for value in values { names.append(try self.names(value, in: database)) }
            return .array(names)
        case .string(let id):
            let prefix = collection.map { $0.text + "/" } ?? ""
            let isOneID = collection == nil || !id.utf8.contains(UInt8(ascii: "/"))
            guard isOneID, let path = try? DocumentPath(prefix + id) else {
                throw .invalidArgument("\"\(id)\" is not a document of the query's collection.")
            }
            return .reference(ReferenceValue(database: database, path: path))
        default: throw .invalidArgument("A document's name must be a string or a reference.")
        }
    }
}
