import Testing
import TidemarkModel

@testable import TidemarkStore

struct KeyOrderTests {
    @Test(arguments: UInt64(0)..<20)
    func `the order of keys is the order of values`(seed: UInt64) {
        var dice = Dice(seed: seed)
        let values = (0..<120).map { _ in dice.value() }
        let keys = values.map { KeyWriter.key(of: $0) }
        for a in values.indices {
            for b in values.indices {
                let expected = Value.compare(values[a], values[b])
                if Comparison.bytes(keys[a], keys[b]) != expected {
                    Issue.record("\(values[a]) against \(values[b]): not \(expected)")
                }
            }
        }
    }

    @Test(arguments: UInt64(0)..<10)
    func `descending keys sort the other way, also when others follow them`(seed: UInt64) {
        var dice = Dice(seed: seed)
        let pairs = (0..<80).map { _ in (dice.value(), dice.value()) }
        let keys = pairs.map { KeyWriter.key(of: $0.0, .descending) + KeyWriter.key(of: $0.1) }
        for a in pairs.indices {
            for b in pairs.indices {
                let first = Value.compare(pairs[a].0, pairs[b].0).reversed
                let expected = first == .equal ? Value.compare(pairs[a].1, pairs[b].1) : first
                #expect(Comparison.bytes(keys[a], keys[b]) == expected)
            }
        }
    }

    @Test func `integers and doubles have one order beyond 2^53`() {
        let ascending: [Value] = [
            .double(.nan), .double(-.infinity), .double(-0x1p63), .integer(.min + 1),
            .integer(-(1 << 53) - 1), .double(-0x1p53), .integer(-1), .double(-0.5), .integer(0),
            .double(0.5), .integer((1 << 53) - 1), .double(0x1p53), .integer((1 << 53) + 1),
            .double(0x1p53 + 2), .integer(.max - 1), .integer(.max), .double(0x1p63),
            .double(.infinity),
        ]
        let keys = ascending.map { KeyWriter.key(of: $0) }
        for (low, high) in zip(keys, keys.dropFirst()) { #expect(KeyRange.precedes(low, high)) }
    }

    @Test func `equal values have equal keys`() {
        #expect(KeyWriter.key(of: .integer(3)) == KeyWriter.key(of: .double(3)))
        #expect(KeyWriter.key(of: .double(0)) == KeyWriter.key(of: .double(-0.0)))
        #expect(KeyWriter.key(of: .integer(.min)) == KeyWriter.key(of: .double(-0x1p63)))
        let other = Double(bitPattern: Double.nan.bitPattern | 1)
        #expect(KeyWriter.key(of: .double(.nan)) == KeyWriter.key(of: .double(other)))
    }

    @Test func `the ids of documents are read back from their keys`() {
        for id in ["a", "", "a\0b", "\0", "é", "__id7__", "__id-9__", "__id007__", "__idx__"] {
            let key = DocumentPath(unchecked: "rooms/" + id).nameKey
            let read = key.withUnsafeBytes { KeyWriter.segment(in: $0) }
            #expect(read.map { $0.id.hasSameBytes(as: id) } == true, "\(id)")
            #expect(read?.end == key.count)
        }
    }

    @Test func `no damaged key makes the reader trap`() {
        var dice = Dice(seed: 1)
        for _ in 0..<2_000 {
            let count = dice.roll(14)
            let bytes = (0..<count).map { _ in dice.pick([0, 1, 2, 3, 255] as [UInt8]) }
            let read = bytes.withUnsafeBytes { KeyWriter.segment(in: $0) }
            #expect((read?.end ?? 0) <= bytes.count)
        }
    }
}
