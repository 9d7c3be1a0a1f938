import TidemarkModel

/// Makes documents of any shape that a server stores.
struct RandomValues {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    private static let texts = [
        "", "a", "b", "__id1__", "naïve", "🏝️", "a.b", "`", "\u{0}", "with space", "0", "value",
    ]

    private mutating func text() -> String { Self.texts[below(Self.texts.count)] }

    /// Returns a field name that is neither empty nor reserved.
    private mutating func key() -> String {
        let text = text()
        return text.isEmpty || text.hasPrefix("__") ? "k\(below(9))" : text
    }

    mutating func path() -> DocumentPath {
        var segments: [String] = []
        for _ in 0...below(3) {
            segments += [
                "c\(below(4))", below(4) == 0 ? "__id\(random.next() % 900)__" : "d\(below(99))",
            ]
        }
        return DocumentPath(unchecked: segments.joined(separator: "/"))
    }

    mutating func fields(depth: Int) -> MapValue {
        var fields = MapValue()
        for _ in 0..<below(6) { fields[key()] = value(depth: depth + 1, isElement: false) }
        return fields
    }

    private mutating func value(depth: Int, isElement: Bool) -> Value {
        switch below(depth > 4 ? 10 : 13) {
        case 0: return .null
        case 1: return .boolean(below(2) == 0)
        case 2: return .integer(Int64(bitPattern: random.next()))
        case 3: return .integer(Int64(below(5)))
        case 4: return .double(Double(bitPattern: random.next()))
        case 5: return .double([0.0, -0.0, 1, .infinity][below(4)])
        case 6: return .timestamp(Timestamp(microseconds: Int64(below(1 << 50)) - 1 << 49))
        case 7: return .string(text())
        case 8: return .bytes((0..<below(20)).map { _ in UInt8(below(256)) })
        case 9: return scalarOfTwo()
        case 10: return .map(fields(depth: depth))
        case 11: return .vector(VectorValue((0...below(4)).map { _ in Double(below(9)) - 4.5 }))
        default:
            if isElement { return .map(fields(depth: depth)) }
            return .array((0..<below(4)).map { _ in value(depth: depth + 1, isElement: true) })
        }
    }

    private mutating func scalarOfTwo() -> Value {
        if below(2) == 0 {
            return .geoPoint(
                GeoPoint(latitude: Double(below(181)) - 90, longitude: Double(below(361)) - 180))
        }
        let database = try! DatabaseID(project: "q", database: below(2) == 0 ? "(default)" : "eu")
        return .reference(ReferenceValue(database: database, path: path()))
    }
}
