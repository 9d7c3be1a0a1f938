import Testing
import TidemarkModel

@testable import TidemarkStore

struct SortedEntriesTests {
    /// The keys consist of few different bytes. They often share a beginning or end early, and are
    /// below, above and beyond the common prefix of the first run.
    @Test(arguments: UInt64(0)..<200)
    func `runs come out as one, in the order of their keys`(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let head = dice.key(upTo: 12)
        var added: [[UInt8]] = []
        var entries = SortedEntries()
        for run in 0..<(1 + dice.roll(5)) {
            for _ in 0..<dice.roll(40) {
                let isAlike = run == 0 || dice.chance(60)
                let key = (isAlike ? head : []) + dice.key(upTo: 12)
                let row = Int64(added.count)
                try entries.add(row) { writer throws(StoreError) in
                    writer.bytes += key
                    return true
                }
                added.append(key)
            }
            entries.endRun()
        }
        var sorted: [SortedEntries.Entry] = []
        while let entry = entries.popLeast() { sorted.append(entry) }
        let keys = sorted.map { added[Int($0.row)] }
        #expect(Set(sorted.map(\.row)).count == added.count)
        #expect(keys == added.sorted { $0.lexicographicallyPrecedes($1) })
        entries.withKeys { key in
            for (entry, added) in zip(sorted, keys) { #expect(Array(key(entry)) == added) }
        }
    }
}

extension Dice {
    fileprivate mutating func key(upTo count: Int) -> [UInt8] {
        (0..<roll(count + 1)).map { _ in pick([0, 1, 7, 0x80, 0xFF]) }
    }
}
