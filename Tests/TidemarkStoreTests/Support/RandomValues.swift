import TidemarkModel

let testDatabase = try! DatabaseID(project: "demo")
private let otherDatabase = try! DatabaseID(project: "other")

/// Random values of every kind and at every limit. Many are equal or close to each other.
extension Dice {
    mutating func value(depth: Int = 2) -> Value {
        switch roll(depth > 0 ? 16 : 12) {
        case 0: .null
        case 1: .boolean(chance(50))
        case 2, 3: .integer(integer())
        case 4, 5: .double(double())
        case 6: .timestamp(timestamp())
        case 7: .pendingServerTimestamp(localWriteTime: timestamp(), previous: nil)
        case 8: .string(text())
        case 9: .bytes(bytes())
        case 10: .reference(reference())
        case 11: .geoPoint(geoPoint())
        case 12: .array(values(depth: depth - 1))
        case 13: .vector(VectorValue((0..<roll(4)).map { _ in double() }))
        default: .map(map(depth: depth - 1))
        }
    }

    mutating func integer() -> Int64 {
        if chance(50) { return Int64(roll(5)) - 2 }
        let anchors: [Int64] = [
            .min, .max, 1 << 53, -(1 << 53), 1 << 62, -(1 << 62), (1 << 53) + 1,
            4_503_599_627_370_497,
        ]
        return pick(anchors) &+ Int64(roll(7)) &- 3
    }

    mutating func double() -> Double {
        if chance(30) { return Double(roll(9)) / 2 - 2 }
        let anchors: [Double] = [
            .nan, .infinity, -.infinity, 0, -0.0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
            .greatestFiniteMagnitude, 0x1p63, -0x1p63, 0x1p53, -0x1p53, 0x1p62, 0x1p64, 1e300,
        ]
        let anchor = pick(anchors)
        return chance(50) ? anchor : (chance(50) ? anchor.nextUp : anchor.nextDown)
    }

    mutating func timestamp() -> Timestamp {
        let seconds = pick([Timestamp.min.seconds, -1, 0, 1, 1_700_000_000, Timestamp.max.seconds])
        return Timestamp(seconds: seconds, nanoseconds: Int32(pick([0, 1, 1_000, 999_999_999])))
    }

    mutating func text() -> String {
        let letters = [
            "a", "b", "\0", "\u{1}", "é", "e\u{301}", "\u{FFFD}", "\u{10FFFF}", "\u{7F}",
        ]
        return (0..<roll(4)).map { _ in pick(letters) }.joined()
    }

    mutating func bytes() -> [UInt8] {
        let count = roll(4)
        return (0..<count).map { _ in pick([0, 1, 2, 254, 255]) }
    }

    mutating func id() -> String {
        pick(["a", "b", "a\0", "ab", "é", "z", "__id7__", "__id-3__", "__id10__", "_", "~"])
    }

    mutating func path(maxPairs: Int = 3) -> DocumentPath {
        let pairs = (0..<(1 + roll(maxPairs))).map { _ in pick(["a", "b", "a-"]) + "/" + id() }
        return DocumentPath(unchecked: pairs.joined(separator: "/"))
    }

    mutating func reference() -> ReferenceValue {
        ReferenceValue(database: chance(80) ? testDatabase : otherDatabase, path: path())
    }

    mutating func geoPoint() -> GeoPoint {
        GeoPoint(latitude: pick([-90, -0.0, 0, 45.5]), longitude: pick([-180, 0, -0.0, 180]))
    }

    mutating func values(depth: Int) -> [Value] {
        let count = roll(4)
        return (0..<count).map { _ in value(depth: depth) }
    }

    mutating func map(depth: Int) -> MapValue {
        var fields = MapValue()
        for _ in 0..<roll(4) { fields[pick(["", "a", "a\0", "b", "é"])] = value(depth: depth) }
        return fields
    }
}
