import Foundation

/// The result of parsing a call's data: the fields, and the parts that are not plain values.
struct ParsedFields {
    var fields = MapValue()
    /// The paths of all values except non-empty maps. A non-empty map is listed by the paths of its
    /// members.
    var leaves: [FieldPath] = []
    var transforms: [FieldTransform] = []
    var deletions: [FieldPath] = []
}

/// Converts an app's `Any` values. A value that Firestore cannot store is an error with its path.
struct ValueParser {
    private(set) var result = ParsedFields()
    /// The path of the field that is being parsed, for errors and masks.
    private var path: [String] = []
    /// Collects the files among the values; nil where files are refused.
    private let files: FieldFiles?
    private var arrays = 0

    /// The maximum depth of maps and arrays in Firestore.
    static let maxDepth = 20

    private init(files: FieldFiles? = nil) { self.files = files }

    /// Parses the fields of a whole document, or of the merged part of one.
    static func fields(
        _ data: [String: Any], files: FieldFiles? = nil
    ) throws(FirestoreError) -> ParsedFields {
        var parser = ValueParser(files: files)
        let names = EquivalentNames(wrappedIn: data)
        parser.result.fields = try parser.map(names?.members ?? members(of: data))
        return parser.result
    }

    /// Parses one field at `path` of a document. The value is nil if the field is deleted or is
    /// made only by transforms.
    static func field(
        _ value: Any, at path: FieldPath, files: FieldFiles? = nil
    ) throws(FirestoreError) -> (value: Value?, parsed: ParsedFields) {
        var parser = ValueParser(files: files)
        parser.path = path.segments
        let value = try parser.parse(value, depth: 0)
        return (value, parser.result)
    }

    /// Parses a value of a condition or a cursor, where transforms are not allowed.
    static func value(_ any: Any) throws(FirestoreError) -> Value {
        var parser = ValueParser()
        guard let value = try parser.parse(any, depth: 0), parser.result.transforms.isEmpty,
            parser.result.deletions.isEmpty
        else { throw .invalidArgument("A FieldValue cannot be used in a query.") }
        return value
    }

    static func elements(_ elements: [Any]) throws(FirestoreError) -> [Value] {
        var parser = ValueParser()
        parser.arrays = 1
        var values: [Value] = []
        for element in elements {
            if let value = try parser.parse(element, depth: 1) { values.append(value) }
        }
        return values
    }
}

extension ValueParser {
    private func fail(_ reason: String) -> FirestoreError {
        let field = path.isEmpty ? "" : " (in \(FieldPath(unchecked: path).encoded))"
        return .invalidArgument(reason + field + ".")
    }

    private static func members(of data: [String: Any]) -> [(name: String, value: Any)] {
        data.map { (name: $0.key, value: $0.value) }
    }

    private mutating func map(
        _ members: [(name: String, value: Any)], depth: Int = 0
    ) throws(FirestoreError) -> MapValue {
        guard depth < Self.maxDepth else {
            throw fail("Maps and arrays may be nested \(Self.maxDepth) deep at the most")
        }
        var fields = MapValue()
        for (key, any) in members.sorted(by: { $0.name.precedesInBytes($1.name) }) {
            path.append(key)
            try check(key)
            fields[key] = try parse(any, depth: depth + 1)
            path.removeLast()
        }
        return fields
    }

    private func check(_ key: String) throws(FirestoreError) {
        if key.isEmpty { throw .invalidArgument("A field's name may not be empty.") }
        if key.utf8.count >= 4, key.hasPrefix("__"), key.hasSuffix("__") {
            throw fail("Names that begin and end with two underscores are reserved")
        }
    }

    /// Returns nil if the value consists only of transforms, deletions and files.
    private mutating func parse(_ any: Any, depth: Int) throws(FirestoreError) -> Value? {
        switch any {
        case let optional as any OptionalValue:
            guard let wrapped = optional.wrapped else { return leaf(.null) }
            return try parse(wrapped, depth: depth)
        case let special as FieldValue: return try parse(special)
        case let data as [String: Any]: return try map(Self.members(of: data), at: depth)
        case let names as EquivalentNames: return try map(names.members, at: depth)
        case let elements as [Any] where !(any is Data): return try array(elements, depth: depth)
        default:
            guard let value = try plain(any) else { return try file(any) }
            return leaf(value)
        }
    }

    /// Collects a file. Its value is made when the file is copied.
    private func file(_ any: Any) throws(FirestoreError) -> Value? {
        guard let file = any as? any FileValue else {
            throw fail("Firestore cannot store the type \(type(of: any))")
        }
        guard let files else {
            throw fail("A file needs an async form of a write or of a batch's commit")
        }
        guard arrays == 0, !path.isEmpty else { throw fail("A file cannot be inside an array") }
        files.add(file, at: FieldPath(unchecked: path))
        return nil
    }

    private mutating func map(
        _ members: [(name: String, value: Any)], at depth: Int
    ) throws(FirestoreError) -> Value? {
        let value = try map(members, depth: depth)
        if value.isEmpty && !members.isEmpty { return nil }
        return members.isEmpty ? leaf(.map(value)) : .map(value)
    }

    private mutating func leaf(_ value: Value) -> Value {
        if arrays == 0, !path.isEmpty { result.leaves.append(FieldPath(unchecked: path)) }
        return value
    }

    private mutating func array(_ elements: [Any], depth: Int) throws(FirestoreError) -> Value {
        guard depth < Self.maxDepth else {
            throw fail("Maps and arrays may be nested \(Self.maxDepth) deep at the most")
        }
        arrays += 1
        defer { arrays -= 1 }
        var values: [Value] = []
        for element in elements {
            // Firestore allows no array directly inside an array.
            if !(element is Data), element is [Any] {
                throw fail("An array may not hold an array")
            }
            if let value = try parse(element, depth: depth + 1) { values.append(value) }
        }
        arrays -= 1
        defer { arrays += 1 }
        return leaf(.array(values))
    }

    private mutating func parse(_ special: FieldValue) throws(FirestoreError) -> Value? {
        if case .invalid(let error) = special.kind { throw error }
        if case .value(let value) = special.kind { return leaf(value) }
        guard arrays == 0, !path.isEmpty else {
            throw fail(
                """
                A FieldValue, or an @ServerTimestamp that is nil, cannot be inside an array or a \
                query: set a time
                """)
        }
        let field = FieldPath(unchecked: path)
        switch special.kind {
        case .delete: result.deletions.append(field)
        case .transform(let operation): result.transforms.append(FieldTransform(field, operation))
        case .value, .invalid: break
        }
        return nil
    }

    /// Returns nil for a type that Firestore cannot store.
    private func plain(_ any: Any) throws(FirestoreError) -> Value? {
        switch any {
        // Apple's systems cast numbers and booleans into each other, so the real type decides.
        case let number as NSNumber where type(of: any) is NSNumber.Type:
            guard let value = Self.value(of: number) else {
                throw fail("\(number) is over 64 bits")
            }
            return value
        case let value as String: return .string(value)
        case let value as any BinaryInteger:
            guard let integer = Int64(exactly: value) else {
                throw fail("\(value) is over 64 bits")
            }
            return .integer(integer)
        case let value as any BinaryFloatingPoint: return .double(Double(value))
        case let value as Bool: return .boolean(value)
        case let value as Timestamp: return .timestamp(value.truncatedToMicroseconds)
        case let value as Date: return .timestamp(try Self.timestamp(value, fail))
        case let value as Decimal: return .double(value.nearestDouble)
        case let value as Data: return .bytes([UInt8](value))
        case is NSNull: return .null
        case let value as GeoPoint: return .geoPoint(value)
        case let value as VectorValue: return .vector(value)
        case let value as DocumentReference: return .reference(try value.value())
        case let value as ReferenceValue: return .reference(value)
        case let value as Value: return value
        case let value as MapValue: return .map(value)
        default: return nil
        }
    }

    private static func timestamp(
        _ date: Date, _ fail: (String) -> FirestoreError
    ) throws(FirestoreError) -> Timestamp {
        guard let timestamp = Timestamp(checked: date) else {
            throw fail("The date is outside the years 1 to 9999")
        }
        return timestamp
    }

    /// Returns nil for an integer over 64 bits.
    private static func value(of number: NSNumber) -> Value? {
        if NumberKind.isBoolean(number) { return .boolean(number.boolValue) }
        if let number = number as? NSDecimalNumber {
            return .double(number.decimalValue.nearestDouble)
        }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): return .double(number.doubleValue)
        case UInt8(ascii: "Q"):
            return Int64(exactly: number.uint64Value).map { .integer($0) }
        default: return .integer(number.int64Value)
        }
    }
}

/// An optional of any wrapped type. The protocol finds optionals that are stored in an `Any`.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { map { $0 } }
}
