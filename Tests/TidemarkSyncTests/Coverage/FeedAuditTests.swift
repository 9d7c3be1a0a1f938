import Testing
import TidemarkModel

@testable import TidemarkSync

/// The audit alone, between two sets of items in memory.
struct `An audit` {
    struct Item: Hashable {
        let time: Int64
        let id: Int
        var version: Int

        var path: DocumentPath { DocumentPath(unchecked: "c/\(id)") }
        var timestamp: Timestamp { Timestamp(seconds: time, nanoseconds: 0) }
    }

    private static func items(
        _ all: Set<Item>, in range: Range<CoveragePosition>
    ) -> [Item] {
        all.filter {
            range.lowerBound <= .before($0.timestamp, $0.path)
                && .after($0.timestamp, $0.path) <= range.upperBound
        }.sorted { ($0.time, $0.path) < ($1.time, $1.path) }
    }

    private static func figures(_ items: [Item]) -> FeedAudit.Figures {
        FeedAudit.Figures(
            count: items.count, sum: items.reduce(0) { $0 + Double($1.version) })
    }

    /// - Returns: The number of billed reads.
    private static func run(
        _ held: inout Set<Item>, _ server: Set<Item>, pageSize: Int = 500,
        from ranges: [Range<CoveragePosition>] = [.lowest..<CoveragePosition.highest]
    ) -> Int {
        var audit = FeedAudit(ranges)
        var reads = 0
        while let step = audit.next {
            switch step {
            case .compare(let range, let expected, _):
                let here = items(held, in: range)
                let there = items(server, in: range)
                if expected == nil { reads += max(1, (there.count + 999) / 1_000) }
                let middle = here.isEmpty ? nil : here[here.count / 2]
                audit.compared(
                    held: figures(here), server: expected == nil ? figures(there) : nil,
                    middle: middle.map { .before($0.timestamp, $0.path) }, at: .epoch)
            case .read(let range):
                let there = Array(items(server, in: range).reversed().prefix(pageSize))
                reads += max(1, there.count)
                let isLast = there.count < pageSize
                let lower =
                    isLast
                    ? range.lowerBound
                    : .before(there[there.count - 1].timestamp, there[there.count - 1].path)
                held.subtract(items(held, in: lower..<range.upperBound))
                held.formUnion(there)
                audit.wasRead(rest: isLast ? nil : range.lowerBound..<lower)
            }
        }
        return reads
    }

    @Test func `costs a read for every 1,000 items when nothing differs`() {
        var held = Set((0..<2_500).map { Item(time: Int64($0), id: $0, version: 1) })
        #expect(Self.run(&held, held) == 3)
    }

    @Test func `finds one delete among 1,000 for a handful of reads`() {
        var held = Set((0..<1_000).map { Item(time: Int64($0), id: $0, version: 1) })
        let server = held.filter { $0.id != 617 }
        let reads = Self.run(&held, server)
        #expect(held == server)
        #expect(reads <= 20, "\(reads)")
    }

    @Test(arguments: UInt64(0)..<100)
    func `leaves what the server has, whatever happened there`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let count = Int.random(in: 0..<300, using: &random)
        var held = Set(
            (0..<count).map { Item(time: .random(in: 0..<40, using: &random), id: $0, version: 1) })
        var server = held
        for change in 0..<Int.random(in: 0..<30, using: &random) {
            switch (
                Int.random(in: 0..<3, using: &random),
                server.sorted { $0.id < $1.id }.randomElement(using: &random)
            ) {
            case (0, let old?): server.remove(old)
            case (1, var old?):
                server.remove(old)
                old.version += 1_000 + change * change
                server.insert(old)
            default:
                server.insert(
                    Item(
                        time: .random(in: 0..<40, using: &random), id: 1_000 + change,
                        version: 7 + change))
            }
        }
        _ = Self.run(&held, server, pageSize: seed.isMultiple(of: 2) ? 3 : 500)
        #expect(held == server, "seed \(seed)")
    }
}
