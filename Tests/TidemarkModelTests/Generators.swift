import TidemarkModel

/// Makes random values of the model, with many values at the limits: few different keys and values,
/// so equal ones are frequent, and the numbers and strings that comparisons often get wrong.
struct Generator {
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func pick<T>(_ options: [T]) -> T { options.randomElement(using: &random)! }
    mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
    mutating func chance(_ oneIn: Int) -> Bool { number(1...oneIn) == 1 }

    mutating func list<T>(upTo count: Int, _ make: (inout Self) -> T) -> [T] {
        (0..<number(0...count)).map { _ in make(&self) }
    }

    mutating func text() -> String {
        chance(3)
            ? String(decoding: list(upTo: 20) { UInt8($0.number(0x20...0x7E)) }, as: UTF8.self)
            : pick(Self.texts)
    }

    static let texts = [
        "", "a", "b", "aa", "ab", "A", "\u{E9}", "e\u{301}", "\u{FFFD}", "\u{10000}", "\u{E000}",
        "\u{0}", "a\u{0}", "日本", "eightbyt", "eightbyte", "eightbyz", "a.b", "`", "\\", "\u{7F}",
        "👩‍👧", "\u{FF}", "a name with many characters in it", "a name with many characters in is",
    ]

    mutating func integer() -> Int64 {
        chance(3) ? Int64(truncatingIfNeeded: random.next()) : pick(Self.integers)
    }

    static let integers: [Int64] = [
        0, 1, -1, 2, 3, 1 << 53, 1 << 53 + 1, 1 << 53 - 1, -(1 << 53) - 1, .max, .min, .max - 1,
        .min + 1, .max - 512, 1 << 62,
    ]

    mutating func double() -> Double {
        switch number(1...4) {
        case 1: Double(bitPattern: random.next())
        case 2: Double(integer())
        default: pick(Self.doubles)
        }
    }

    static let doubles: [Double] = [
        0, -0.0, 1, -1, 1.5, 0.5, -0.5, 0x1p53, 0x1p53 + 2, -0x1p53, 0x1p63, -0x1p63,
        (0x1p63).nextDown, (-0x1p63).nextDown, .nan, -.nan, .signalingNaN, .infinity, -.infinity,
        .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .greatestFiniteMagnitude,
    ]

    mutating func timestamp() -> Timestamp {
        Timestamp(
            seconds: pick([0, 1, -1, 1_700_000_000, -62_135_596_800, 253_402_300_799]),
            nanoseconds: pick([0, 1, 999, 1_000, 999_999_999]))
    }

    mutating func id() -> String {
        pick([
            "a", "b", "é", "e\u{301}", "__id7__", "__id-8__", "__id10__", "x.y", "a`b", "\u{10000}",
        ])
    }

    mutating func documentPath() -> DocumentPath {
        let segments = (0..<2 * number(1...3)).map { _ in id() }
        return try! DocumentPath(segments.joined(separator: "/"))
    }

    mutating func reference() -> ReferenceValue {
        let database = try! DatabaseID(
            project: pick(["p", "q"]), database: pick(["(default)", "other"]))
        return ReferenceValue(database: database, path: documentPath())
    }

    mutating func geoPoint() -> GeoPoint {
        GeoPoint(
            latitude: pick([0, -0.0, 90, -90, 1.5]), longitude: pick([0, -0.0, 180, -180, 2]))
    }

    mutating func scalar() -> Value {
        switch number(0...8) {
        case 0: .null
        case 1: .boolean(pick([true, false]))
        case 2: .integer(integer())
        case 3: .double(double())
        case 4: .timestamp(timestamp())
        case 5: .string(text())
        case 6: .bytes(list(upTo: 12) { $0.pick([0, 1, 0x7F, 0x80, 0xFF]) })
        case 7: .reference(reference())
        default: .geoPoint(geoPoint())
        }
    }

    mutating func value(depth: Int = 3) -> Value {
        if depth == 0 || number(0...2) > 0 { return scalar() }
        return switch number(0...5) {
        case 0, 1: .array(list(upTo: 4) { $0.value(depth: depth - 1) })
        case 2: .vector(VectorValue(list(upTo: 3) { $0.double() }))
        case 3 where depth > 1:
            .pendingServerTimestamp(
                localWriteTime: timestamp(), previous: chance(2) ? scalar() : nil)
        default: .map(fields(depth: depth - 1))
        }
    }

    mutating func fields(depth: Int = 3, upTo count: Int = 5) -> MapValue {
        MapValue(list(upTo: count) { ($0.text(), $0.value(depth: depth)) })
    }

    mutating func fieldPath() -> FieldPath {
        let names = (0..<number(1...3)).map { _ in
            pick(["a", "b", "c", "a.b", "é", "e\u{301}", "`\\"])
        }
        return try! FieldPath(segments: names)
    }
}
