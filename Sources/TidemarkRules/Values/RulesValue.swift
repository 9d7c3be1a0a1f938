public import TidemarkModel

/// A value of the rules language.
public enum RulesValue: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case float(Double)
    case string(String)
    case bytes([UInt8])
    case list([RulesValue])
    case map(RulesMap)
    /// A set without duplicate elements.
    case set([RulesValue])
    case timestamp(Timestamp)
    case duration(RulesDuration)
    case latlng(GeoPoint)
    case path(RulesPath)
    /// The result of `a.diff(b)`.
    indirect case difference(MapDifference)
    /// The known properties of a value that differs between a query's results. Only in proofs.
    indirect case known(Knowledge)
}

/// The segments of a path, for example `/databases/(default)/documents/rooms/blue`.
public struct RulesPath: Hashable, Sendable, CustomStringConvertible {
    public let segments: [String]

    public init(_ segments: [String]) { self.segments = segments }

    public init(_ document: DocumentPath, in database: String) {
        segments = ["databases", database, "documents"] + document.segments
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.segments.count == right.segments.count
            && zip(left.segments, right.segments).allSatisfy { $0.hasSameBytes(as: $1) }
    }

    public func hash(into hasher: inout Hasher) {
        for segment in segments { segment.hashBytes(into: &hasher) }
    }

    public var description: String { "/" + segments.joined(separator: "/") }

    /// Returns the document of `database` that the path names; nil if it names none.
    public func document(in database: String) -> DocumentPath? {
        guard segments.count > 4, segments[0] == "databases",
            segments[1].hasSameBytes(as: database), segments[2] == "documents"
        else { return nil }
        return try? DocumentPath(segments.dropFirst(3).joined(separator: "/"))
    }
}

/// A positive or negative length of time, in nanoseconds.
public struct RulesDuration: Hashable, Sendable, Comparable {
    /// The whole seconds, rounded towards zero.
    public let seconds: Int64
    /// The rest, with the same sign: `-999_999_999 ... 999_999_999`.
    public let nanoseconds: Int32

    static let most: Int64 = 315_576_000_000

    /// Returns nil for more than 10,000 years.
    init?(total: Int128) {
        let (seconds, rest) = total.quotientAndRemainder(dividingBy: 1_000_000_000)
        guard seconds.magnitude <= Self.most else { return nil }
        self.seconds = Int64(seconds)
        nanoseconds = Int32(rest)
    }

    var total: Int128 { Int128(seconds) * 1_000_000_000 + Int128(nanoseconds) }

    public static func < (left: Self, right: Self) -> Bool { left.total < right.total }
}

/// The difference of two maps, as lists of keys.
public struct MapDifference: Sendable {
    /// The keys in `before` only, in `after` only, in both with different values, and in both with
    /// equal values.
    let removed, added, changed, unchanged: [RulesValue]

    init(from before: RulesMap, to after: RulesMap) {
        var (removed, changed, unchanged): ([RulesValue], [RulesValue], [RulesValue]) = ([], [], [])
        for (key, value) in before.entries {
            if let other = after[key] {
                if value.equals(other, inside: true) {
                    unchanged.append(.string(key))
                } else {
                    changed.append(.string(key))
                }
            } else {
                removed.append(.string(key))
            }
        }
        self.removed = removed
        self.changed = changed
        self.unchanged = unchanged
        added = after.entries.filter { before[$0.key] == nil }.map { .string($0.key) }
    }
}

extension RulesValue {
    /// Converts the value of a document's field.
    public init(_ value: Value) {
        switch value {
        case .null: self = .null
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .float(value)
        case .timestamp(let value): self = .timestamp(value)
        case .pendingServerTimestamp(let time, _): self = .timestamp(time)
        case .string(let value): self = .string(value)
        case .bytes(let value): self = .bytes(value)
        case .reference(let value):
            self = .path(RulesPath(value.path, in: value.database.database))
        case .geoPoint(let value): self = .latlng(value)
        case .array(let values): self = .list(values.map(RulesValue.init))
        case .vector(let vector): self = .list(vector.array.map { .float($0) })
        case .map(let fields): self = .map(RulesMap(fields))
        }
    }

    /// The name of the type in errors.
    public var typeName: String {
        switch self {
        case .null: "null"
        case .boolean: "bool"
        case .integer: "int"
        case .float: "float"
        case .string: "string"
        case .bytes: "bytes"
        case .list: "list"
        case .map: "map"
        case .set: "set"
        case .timestamp: "timestamp"
        case .duration: "duration"
        case .latlng: "latlng"
        case .path: "path"
        case .difference: "map_diff"
        case .known: "constraint"
        }
    }

    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .float(let value): value
        default: nil
        }
    }

    /// The approximate cost of visiting the whole value.
    var extent: Int {
        switch self {
        case .string(let text): 1 + text.utf8.count / 16
        case .bytes(let bytes): 1 + bytes.count / 16
        case .list(let values), .set(let values): values.reduce(1) { $0 + $1.extent }
        case .map(let map): map.entries.reduce(1) { $0 + $1.value.extent }
        default: 1
        }
    }
}

extension RulesValue {
    /// Creates the value that rules see of a token's claim.
    package init(_ json: JSONValue) {
        self =
            switch json {
            case .null: .null
            case .bool(let value): .boolean(value)
            case .integer(let value): .integer(value)
            case .number(let value): .float(value)
            case .text(let value): .string(value)
            case .list(let values): .list(values.map { RulesValue($0) })
            case .object(let members):
                .map(RulesMap(members.map { ($0.name, RulesValue($0.value)) }))
            }
    }
}
