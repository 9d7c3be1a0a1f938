// Error texts are production's where they were recorded; the others are Tidemark's.

extension Query {
    /// Checks Firestore's rules for queries that do not depend on data.
    ///
    /// Accepts everything that production accepts: comparisons with null or NaN (which match
    /// nothing), no collection, an empty composite filter, cursor values of any kind.
    ///
    /// - Throws: ``RPCStatus`` of code `invalidArgument`, with production's text where it is known.
    public func validate() throws(RPCStatus) {
        try validateSource()
        if let filter { try filter.validate() }
        try validateOrders()
        try validateScope()
        try validateCursors()
        if let limit, limit.count < 0 { throw .invalidArgument("limit is negative") }
        try projection?.validateAsMask()
        if let findNearest {
            try validateWindow(of: findNearest)
            try findNearest.validate()
        }
    }

    /// A vector search limits rows by distance, so other limits are not allowed.
    private func validateWindow(of search: FindNearest) throws(RPCStatus) {
        if limit != nil {
            throw .invalidArgument("A query limit cannot be used with FindNearest")
        }
        if offset > 0 { throw .invalidArgument("A query offset cannot be used with FindNearest") }
        if start != nil || end != nil {
            throw .invalidArgument("A cursor cannot be used with FindNearest")
        }
    }

    private func validateSource() throws(RPCStatus) {
        guard let id = collectionID else { return }
        if id.utf8.count > QueryLimits.collectionIDBytes {
            throw .invalidArgument("The query kind is longer than 1500 bytes.")
        }
        if id.utf8.contains(UInt8(ascii: "/")) {
            throw .invalidArgument(
                "Collection id \"\(id)\" is invalid because it contains \"/\".")
        }
        if PathRules.isReserved(id[...].utf8) {
            throw .invalidArgument("Collection id \"\(id)\" is invalid because it is reserved.")
        }
    }

    private func validateOrders() throws(RPCStatus) {
        if orders.count > QueryLimits.orders {
            throw .invalidArgument(
                "A query cannot have more than \(QueryLimits.orders) orders; it has "
                    + "\(orders.count).")
        }
        var seen: Set<FieldPath> = []
        for (index, order) in orders.enumerated() {
            if order.field.isDocumentID, index + 1 < orders.count {
                throw .invalidArgument(
                    "order by clause cannot contain more fields after the key")
            }
            if !order.field.isDocumentID { try order.field.validate() }
            if !seen.insert(order.field).inserted {
                throw .invalidArgument(
                    "order by clause cannot contain duplicate fields \(order.field.encoded)")
            }
        }
    }

    /// A scan without a collection, and a group below a document, must be in ascending name order.
    private func validateScope() throws(RPCStatus) {
        let isKeyScan = normalizedOrders == [Order(.documentID)]
        if collectionID == nil {
            var filtered: FieldPath?
            filter?.forEachLeaf { field, _ in if !field.isDocumentID { filtered = field } }
            if let filtered {
                throw .invalidArgument("kind is required for filter: \(filtered.encoded)")
            }
            if !isKeyScan {
                throw .invalidArgument("kind is required for all orders except __key__ ascending")
            }
        } else if allDescendants, parent != nil {
            guard isKeyScan, filter?.onlyNames ?? true else {
                throw .invalidArgument(
                    "collection group queries are only allowed at the root parent")
            }
        }
    }

    private func validateCursors() throws(RPCStatus) {
        let orders = normalizedOrders
        for cursor in [start, end].compactMap({ $0 }) {
            if cursor.values.count > orders.count {
                throw .invalidArgument("Cursor has too many values.")
            }
            for (order, value) in zip(orders, cursor.values) where order.field.isDocumentID {
                guard case .reference = value else {
                    throw .invalidArgument("A cursor value for __name__ must be a document name.")
                }
            }
        }
    }
}

extension FindNearest {
    /// The bounds are documented. The texts are Tidemark's, except that for the zero vector.
    func validate() throws(RPCStatus) {
        try field.validate()
        try distanceField?.validate()
        if vector.isEmpty || vector.count > DocumentLimits.vectorDimensions {
            throw .invalidArgument(
                "The query vector of FindNearest must have 1 to "
                    + "\(DocumentLimits.vectorDimensions) dimensions; it has \(vector.count).")
        }
        if vector.contains(where: \.isNaN) {
            throw .invalidArgument("The query vector of FindNearest must not contain NaN.")
        }
        if !(1...QueryLimits.nearestRows).contains(limit) {
            throw .invalidArgument(
                "The limit of FindNearest must be 1 to \(QueryLimits.nearestRows); it is "
                    + "\(limit).")
        }
        if let threshold, threshold.isNaN {
            throw .invalidArgument("The distance threshold of FindNearest must not be NaN.")
        }
        // Measures the vector's distance to itself to get the error for a zero vector, which a
        // search without rows must raise too.
        if measure == .cosine, Self.isZero(vector) { _ = try distance(to: vector) }
    }
}

extension [FieldPath] {
    /// Checks the fields that a read returns. The document's name is allowed.
    package func validateAsMask() throws(RPCStatus) {
        for field in self where !field.isDocumentID { try field.validate() }
    }
}

extension FieldPath {
    /// - Throws: ``RPCStatus`` if the path is too long or contains a reserved name. `__name__` is
    ///   reserved: check ``isDocumentID`` first if it means the document's own name.
    package func validate() throws(RPCStatus) {
        if encoded.utf8.count > QueryLimits.fieldPathBytes {
            throw .invalidArgument("property path is longer than 1500 bytes.")
        }
        for segment in segments where Self.isReserved(segment) {
            throw .invalidArgument("Invalid reserved name in field path \(segment)")
        }
    }

    /// True if the name matches `__.*__`.
    package static func isReserved(_ name: String) -> Bool {
        let bytes = name.utf8
        let bar = UInt8(ascii: "_")
        return bytes.count >= 4 && bytes.starts(with: [bar, bar])
            && bytes.suffix(2).allSatisfy { $0 == bar }
    }
}

extension Filter {
    /// - Throws: ``RPCStatus`` of code `invalidArgument`.
    func validate() throws(RPCStatus) {
        try forEachComparison { comparison throws(RPCStatus) in try comparison.validateAlone() }
        try validateNegations()
        var ranged: Set<FieldPath> = []
        forEachLeaf { field, isInequality in if isInequality { ranged.insert(field) } }
        if ranged.count > QueryLimits.inequalityFields {
            throw .invalidArgument(
                "A query can have at most \(QueryLimits.inequalityFields) fields with range and "
                    + "inequality filters; it has \(ranged.count).")
        }
        guard let disjunctions = disjunctiveNormalForm(limit: QueryLimits.disjunctions) else {
            throw .invalidArgument(
                "A query can have at most \(QueryLimits.disjunctions) disjunctions after it is "
                    + "brought to disjunctive normal form; it has \(disjunctionCount).")
        }
        for conjunction in disjunctions {
            let contains = conjunction.count {
                if case .field(_, .arrayContains, _) = $0 { true } else { false }
            }
            if contains > 1 {
                throw .invalidArgument(
                    "A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction.")
            }
            try Self.validateKeyEquality(conjunction)
        }
    }

    /// A document's name is no further condition on a range of another field.
    private static func validateKeyEquality(_ conjunction: [Filter]) throws(RPCStatus) {
        var ranged: Set<FieldPath> = []
        var isKeyFixed = false
        for comparison in conjunction {
            if case .field(.documentID, .equal, _) = comparison { isKeyFixed = true }
            comparison.forEachLeaf { field, isInequality in
                if isInequality { ranged.insert(field) }
            }
        }
        if isKeyFixed, !ranged.isEmpty, !ranged.contains(.documentID) {
            throw .invalidArgument(
                "Equality on key is not allowed if there are other inequality fields and key does "
                    + "not appear in inequalities.")
        }
    }

    /// Checks the rules for a single comparison.
    private func validateAlone() throws(RPCStatus) {
        switch self {
        case .and, .or: return
        case .unary(let field, _): if !field.isDocumentID { try field.validate() }
        case .field(let field, let operation, let operand):
            if !field.isDocumentID { try field.validate() }
            try operation.validate(operand)
            if field.isDocumentID { try operation.validateNames(operand) }
        }
    }

    /// Checks that there is at most one negative comparison, and that `not-in` is combined neither
    /// with `or` nor with its shorthands.
    private func validateNegations() throws(RPCStatus) {
        var negations = 0
        var notIns = 0
        var disjunctions = 0
        forEachComparison { comparison in
            switch comparison {
            case .field(_, .notIn, _):
                notIns += 1
                negations += 1
            case .field(_, .notEqual, _), .unary(_, .isNotNaN), .unary(_, .isNotNull):
                negations += 1
            case .field(_, .isIn, _), .field(_, .arrayContainsAny, _): disjunctions += 1
            default: break
            }
        }
        if negations > 1 {
            throw .invalidArgument(
                "Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter is "
                    + "allowed per query.")
        }
        if notIns > 0, disjunctions > 0 || hasRealOr {
            throw .invalidArgument(
                "'NOT_IN' cannot be used in the same query with 'OR', 'IN' or "
                    + "'ARRAY_CONTAINS_ANY'.")
        }
    }

    /// True if the filter contains an `or` of at least two filters at any depth.
    private var hasRealOr: Bool {
        switch self {
        case .field, .unary: false
        case .and(let filters): filters.contains(where: \.hasRealOr)
        case .or(let filters):
            filters.count { !$0.isVacuous } > 1 || filters.contains(where: \.hasRealOr)
        }
    }

    fileprivate var onlyNames: Bool {
        var result = true
        forEachLeaf { field, _ in if !field.isDocumentID { result = false } }
        return result
    }

    private func forEachComparison<E: Error>(
        _ visit: (Filter) throws(E) -> Void
    ) throws(E) {
        switch self {
        case .field, .unary: try visit(self)
        case .and(let filters), .or(let filters):
            for filter in filters { try filter.forEachComparison(visit) }
        }
    }
}

extension Filter.Operator {
    /// The name in the wire's enumeration, which production's error texts use.
    var wireName: String {
        switch self {
        case .lessThan: "LESS_THAN"
        case .lessThanOrEqual: "LESS_THAN_OR_EQUAL"
        case .greaterThan: "GREATER_THAN"
        case .greaterThanOrEqual: "GREATER_THAN_OR_EQUAL"
        case .equal: "EQUAL"
        case .notEqual: "NOT_EQUAL"
        case .arrayContains: "ARRAY_CONTAINS"
        case .isIn: "IN"
        case .arrayContainsAny: "ARRAY_CONTAINS_ANY"
        case .notIn: "NOT_IN"
        }
    }

    /// True if the operand is a list of values.
    public var takesList: Bool {
        switch self {
        case .isIn, .arrayContainsAny, .notIn: true
        default: false
        }
    }

    fileprivate func validate(_ operand: Value) throws(RPCStatus) {
        guard takesList else { return }
        guard case .array(let values) = operand, !values.isEmpty else {
            throw .invalidArgument("'\(wireName)' requires an non-empty ArrayValue.")
        }
        if self == .notIn, values.count > QueryLimits.notInValues {
            throw .invalidArgument(
                "'NOT_IN' supports up to \(QueryLimits.notInValues) comparison values.")
        }
    }

    /// Checks that the document's name is compared only with names and not as an array.
    fileprivate func validateNames(_ operand: Value) throws(RPCStatus) {
        let values = takesList ? operand.arrayElements : [operand]
        let isName = values.allSatisfy { if case .reference = $0 { true } else { false } }
        guard isName, self != .arrayContains, self != .arrayContainsAny else {
            throw .invalidArgument("__key__ filter value must be a Key")
        }
    }
}
