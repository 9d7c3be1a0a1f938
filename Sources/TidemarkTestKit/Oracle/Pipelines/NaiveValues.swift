package import TidemarkModel

// An evaluator of pipelines for tests alone, written from Firestore's documentation: whole
// lists, no bounds, no code of the product except the value types.

/// The result of an expression.
enum Naive: Equatable {
    case missing
    case some(Value)
    case failed

    static func bool(_ value: Bool) -> Naive { .some(.boolean(value)) }
    static func int(_ value: Int) -> Naive { .some(.integer(Int64(value))) }
    static let null = Naive.some(.null)

    /// Null for a missing value; nil for a failure.
    var orNull: Value? {
        switch self {
        case .missing: .null
        case .some(let value): value
        case .failed: nil
        }
    }

    var isNothing: Bool { self == .missing || self == .null }
}

package enum NaiveValues {
    /// The place of a type in the order of all values. NaN is before the numbers.
    static func place(_ value: Value) -> Int {
        switch value {
        case .null: 0
        case .boolean: 1
        case .double(let number) where number.isNaN: 2
        case .integer, .double: 3
        case .timestamp, .pendingServerTimestamp: 4
        case .string: 5
        case .bytes: 6
        case .reference: 7
        case .geoPoint: 8
        case .array: 9
        case .vector: 10
        case .map: 11
        }
    }

    /// Exact only for integers up to 2^53, of which no larger ones are added.
    static func number(_ value: Value) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    /// Returns -1, 0 or 1.
    package static func compare(_ left: Value, _ right: Value) -> Int {
        let (a, b) = (place(left), place(right))
        if a != b { return a < b ? -1 : 1 }
        switch (left, right) {
        case (.boolean(let a), .boolean(let b)): return order(a ? 1 : 0, b ? 1 : 0)
        case (.timestamp(let a), .timestamp(let b)):
            return lexical(
                [Int(a.seconds), Int(a.nanoseconds)], [Int(b.seconds), Int(b.nanoseconds)])
        case (.string(let a), .string(let b)): return lexical(Array(a.utf8), Array(b.utf8))
        case (.bytes(let a), .bytes(let b)): return lexical(a, b)
        case (.reference(let a), .reference(let b)):
            return lexical(Array(a.path.text.utf8), Array(b.path.text.utf8))
        case (.geoPoint(let a), .geoPoint(let b)):
            let latitudes = order(a.latitude, b.latitude)
            return latitudes != 0 ? latitudes : order(a.longitude, b.longitude)
        case (.integer(let a), .integer(let b)): return order(a, b)
        case (.integer(let a), .double(let b)): return order(a, b)
        case (.double(let a), .integer(let b)): return -order(b, a)
        case (.array(let a), .array(let b)): return lists(a, b)
        case (.vector(let a), .vector(let b)):
            let sizes = order(a.array.count, b.array.count)
            return sizes != 0 ? sizes : lists(a.array.map(Value.double), b.array.map(Value.double))
        case (.map(let a), .map(let b)): return lists(pairs(a), pairs(b))
        default:
            guard let a = number(left), let b = number(right), a == a else { return 0 }
            return order(a, b)
        }
    }

    private static func pairs(_ map: MapValue) -> [Value] {
        map.sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }
            .flatMap { [.string($0.key), $0.value] }
    }

    private static func order<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a > b ? 1 : 0 }

    /// Compares exactly: not every integer is a double.
    private static func order(_ whole: Int64, _ real: Double) -> Int {
        if real >= 0x1p63 { return -1 }
        if real < -0x1p63 { return 1 }
        let floor = real.rounded(.down)
        let found = order(whole, Int64(floor))
        return found == 0 && floor < real ? -1 : found
    }

    private static func lexical<T: Comparable>(_ a: [T], _ b: [T]) -> Int {
        a.lexicographicallyPrecedes(b) ? -1 : b.lexicographicallyPrecedes(a) ? 1 : 0
    }

    private static func lists(_ a: [Value], _ b: [Value]) -> Int {
        for index in 0..<min(a.count, b.count) {
            let found = compare(a[index], b[index])
            if found != 0 { return found }
        }
        return order(a.count, b.count)
    }

    static func same(_ left: Value, _ right: Value) -> Bool { compare(left, right) == 0 }

    static func typeName(_ value: Value) -> String {
        switch value {
        case .integer: "int64"
        case .double: "float64"
        default:
            [
                "null", "boolean", "", "", "timestamp", "string", "bytes", "reference", "geo_point",
                "array", "vector", "map",
            ][place(value)]
        }
    }

    static func list(_ value: Value) -> [Value]? {
        if case .array(let values) = value { values } else { nil }
    }

    static func text(_ value: Value) -> String? {
        if case .string(let text) = value { text } else { nil }
    }

    static func fields(_ value: Value) -> MapValue? {
        if case .map(let fields) = value { fields } else { nil }
    }

    static func whole(_ value: Value) -> Int? {
        if case .integer(let number) = value { Int(number) } else { nil }
    }

    /// Returns the path of a field reference without quotes.
    static func path(_ text: String) -> [String] { text.split(separator: ".").map(String.init) }

    static func get(_ path: ArraySlice<String>, _ map: MapValue) -> Value? {
        guard let first = path.first, let found = map[first] else { return nil }
        if path.count == 1 { return found }
        return fields(found).flatMap { get(path.dropFirst(), $0) }
    }

    static func set(_ path: ArraySlice<String>, in map: inout MapValue, to value: Value?) {
        guard let first = path.first else { return }
        if path.count == 1 {
            map[first] = value
            return
        }
        let old = map[first].flatMap(fields)
        if value == nil, old == nil { return }
        var inner = old ?? MapValue()
        set(path.dropFirst(), in: &inner, to: value)
        map[first] = .map(inner)
    }
}
