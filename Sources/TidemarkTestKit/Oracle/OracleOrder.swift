import TidemarkModel

// The order of Firestore's values, written from its documentation ("Supported data types", "Value
// type ordering") and from recorded behaviour of production. Tests compare the product with this
// order, so it never calls the product's own comparisons.

/// Compares values. The results -1, 0 and 1 mean below, equal and above.
enum OracleOrder {
    static func compare(_ left: Value, _ right: Value) -> Int {
        let kinds = sign(kind(of: left), kind(of: right))
        if kinds != 0 { return kinds }
        switch (left, right) {
        case (.boolean(let a), .boolean(let b)): return sign(a ? 1 : 0, b ? 1 : 0)
        case (.timestamp(let a), .timestamp(let b)):
            return first(sign(a.seconds, b.seconds), sign(a.nanoseconds, b.nanoseconds))
        case (.pendingServerTimestamp(let a, _), .pendingServerTimestamp(let b, _)):
            return first(sign(a.seconds, b.seconds), sign(a.nanoseconds, b.nanoseconds))
        case (.string(let a), .string(let b)): return bytes(Array(a.utf8), Array(b.utf8))
        case (.bytes(let a), .bytes(let b)): return bytes(a, b)
        case (.reference(let a), .reference(let b)): return references(a, b)
        case (.geoPoint(let a), .geoPoint(let b)):
            return first(
                numbers(.double(a.latitude), .double(b.latitude)),
                numbers(.double(a.longitude), .double(b.longitude)))
        case (.array(let a), .array(let b)): return lists(a, b, by: compare)
        case (.vector(let a), .vector(let b)):
            // The number of dimensions is compared first.
            return first(
                sign(a.array.count, b.array.count),
                lists(a.array.map(Value.double), b.array.map(Value.double), by: compare))
        case (.map(let a), .map(let b)): return maps(a, b)
        default: return numbers(left, right)
        }
    }

    /// True if a range filter compares the two values: they have the same kind, and all numbers are
    /// of one kind.
    static func areOfOneKind(_ left: Value, _ right: Value) -> Bool {
        func merged(_ value: Value) -> Int { isNaN(value) ? numberKind : kind(of: value) }
        return merged(left) == merged(right)
    }

    static func isNaN(_ value: Value) -> Bool {
        if case .double(let number) = value { number != number } else { false }
    }

    static func isNull(_ value: Value) -> Bool { if case .null = value { true } else { false } }

    private static let numberKind = 3

    /// The position of a value's kind: null, boolean, NaN, number, timestamp, string, bytes,
    /// reference, geo point, array, vector, map. Pending server timestamps follow all other
    /// timestamps.
    private static func kind(of value: Value) -> Int {
        switch value {
        case .null: 0
        case .boolean: 1
        case .double(let number) where number != number: 2
        case .integer, .double: numberKind
        case .timestamp: 4
        case .pendingServerTimestamp: 5
        case .string: 6
        case .bytes: 7
        case .reference: 8
        case .geoPoint: 9
        case .array: 10
        case .vector: 11
        case .map: 12
        }
    }

    // MARK: Numbers

    /// Compares exact numeric values. NaN equals NaN, and `-0.0` equals `0`.
    private static func numbers(_ left: Value, _ right: Value) -> Int {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): sign(a, b)
        case (.double(let a), .double(let b)): a < b ? -1 : (b < a ? 1 : 0)
        case (.integer(let a), .double(let b)): -exact(b, against: a)
        case (.double(let a), .integer(let b)): exact(a, against: b)
        default: 0
        }
    }

    /// Compares a double with an integer. The integral part is compared first, as a 128-bit
    /// integer, which represents every double near an Int64 exactly; then the fraction.
    private static func exact(_ double: Double, against integer: Int64) -> Int {
        if double != double { return 0 }
        if double >= 1e19 { return 1 }
        if double <= -1e19 { return -1 }
        let whole = double.rounded(.down)
        return first(sign(Int128(whole), Int128(integer)), double > whole ? 1 : 0)
    }

    // MARK: Texts and names

    static func bytes(_ left: [UInt8], _ right: [UInt8]) -> Int {
        lists(left, right) { sign($0, $1) }
    }

    private static func references(_ a: ReferenceValue, _ b: ReferenceValue) -> Int {
        first(
            bytes(Array(a.database.name.utf8), Array(b.database.name.utf8)),
            paths(a.path, b.path))
    }

    /// Compares segment by segment. Numeric ids such as `__id7__` compare by number and precede all
    /// others.
    static func paths(_ left: DocumentPath, _ right: DocumentPath) -> Int {
        lists(segments(left.text), segments(right.text)) { a, b in
            switch (number(in: a), number(in: b)) {
            case (let x?, let y?): sign(x, y)
            case (_?, nil): -1
            case (nil, _?): 1
            case (nil, nil): bytes(a, b)
            }
        }
    }

    static func segments(_ path: String) -> [[UInt8]] {
        Array(path.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map(Array.init)
    }

    private static func number(in segment: [UInt8]) -> Int64? {
        let (head, tail) = (Array("__id".utf8), Array("__".utf8))
        guard segment.count > head.count + tail.count, Array(segment.prefix(head.count)) == head,
            Array(segment.suffix(tail.count)) == tail
        else { return nil }
        let digits = String(
            decoding: segment.dropFirst(head.count).dropLast(tail.count), as: UTF8.self)
        guard let number = Int64(digits), "\(number)" == digits else { return nil }
        return number
    }

    // MARK: Arrays and maps

    /// Compares element by element. A list that is a prefix of another list precedes it.
    private static func lists<Element>(
        _ left: [Element], _ right: [Element], by order: (Element, Element) -> Int
    ) -> Int {
        for index in 0..<min(left.count, right.count) {
            let result = order(left[index], right[index])
            if result != 0 { return result }
        }
        return sign(left.count, right.count)
    }

    /// Compares by keys in byte order: key, value, next key, next value.
    private static func maps(_ left: MapValue, _ right: MapValue) -> Int {
        func pairs(_ map: MapValue) -> [(key: [UInt8], value: Value)] {
            map.map { (Array($0.key.utf8), $0.value) }.sorted { bytes($0.key, $1.key) < 0 }
        }
        return lists(pairs(left), pairs(right)) { a, b in
            first(bytes(a.key, b.key), compare(a.value, b.value))
        }
    }

    private static func sign<Number: Comparable>(_ left: Number, _ right: Number) -> Int {
        left < right ? -1 : (right < left ? 1 : 0)
    }

    /// Returns the first result that is not zero, or zero.
    private static func first(_ results: Int...) -> Int { results.first { $0 != 0 } ?? 0 }
}
