import Testing
import TidemarkModel

@testable import TidemarkConsole

/// Recorded traffic is priced again, with a limit and as a feed.
struct WhatIfTests {
    private let database = "projects/demo/databases/(default)"

    private func query(_ id: Int, _ asked: String, reads: Int, by label: String = "phone")
        -> TrafficEntry
    {
        var entry = TrafficEntry(
            id: id, began: Int64(id), method: "RunQuery", database: database, label: label,
            client: nil, asked: asked)
        entry.reads = reads
        entry.outcome = "OK"
        return entry
    }

    private func listen(_ id: Int, _ asked: String, first: Int, changes: Int) -> TrafficEntry {
        var entry = TrafficEntry(
            id: id, began: Int64(id), method: "Listen", database: database, label: "phone",
            client: nil, asked: asked)
        entry.targets = [.init(id: 2, asked: asked, isResumed: false)]
        entry.life = [.init(at: 1, target: 2, what: .asked)]
        if first > 0 {
            entry.life.append(.init(at: 2, target: 2, what: .documents, documents: first))
        }
        entry.life.append(.init(at: 3, target: 2, what: .current))
        entry.life.append(.init(at: 4, target: 2, what: .documents, documents: changes))
        return entry
    }

    @Test func `a limit bounds each answer, and no change`() throws {
        let row = try #require(
            WhatIf(
                [
                    listen(2, "rooms/a/messages", first: 500, changes: 7),
                    query(1, "rooms/a/messages", reads: 300),
                ],
                limit: 20
            ).rows.first)
        #expect(row.calls == 2 && row.reads == 807)
        #expect(row.withLimit == 20 + 20 + 7)
        #expect(row.asFeed == 300 + 1 + 7, "the oldest answer is read in full")
    }

    @Test func `each caller of a feed has a first answer`() throws {
        let entries = (1...4).map { query($0, "rooms", reads: 50, by: $0 % 2 == 0 ? "a" : "b") }
        let row = try #require(WhatIf(entries.reversed(), limit: 100).rows.first)
        #expect(row.asFeed == 50 + 50 + 1 + 1 && row.withLimit == row.reads)
    }

    @Test func `queries that differ in their limit alone are one row, and a lower limit stays`()
        throws
    {
        let rows = WhatIf(
            [
                query(2, "rooms order by n limit 5", reads: 5, by: "a"),
                query(1, "rooms order by n", reads: 90, by: "b"),
            ],
            limit: 20
        ).rows
        #expect(rows.map(\.asked) == ["rooms order by n"])
        #expect(rows[0].withLimit == 25 && rows[0].asFeed == 95)
    }

    @Test func `what a limit and a feed leave as it is has no row`() {
        let entries = [query(1, "rooms", reads: 3), listen(2, "rooms/blue", first: 1, changes: 2)]
        #expect(WhatIf(entries, limit: 20).rows.isEmpty)
        var failed = query(3, "rooms", reads: 500)
        failed.outcome = "unavailable"
        #expect(WhatIf([failed], limit: 20).rows.isEmpty)
    }

    @Test func `a row has the code that makes it`() throws {
        let row = try #require(
            WhatIf(
                [query(1, "rooms/a/messages where n >= 3 order by n desc", reads: 90)], limit: 20
            ).rows.first)
        #expect(
            row.code == """
                firestore.collection("rooms/a/messages")
                    .whereField("n", isGreaterThanOrEqualTo: 3)
                    .order(by: "n", descending: true)
                    .limit(to: 20)
                """)
        let cut = WhatIf([query(1, "rooms where n == \"…", reads: 90)], limit: 20).rows.first
        #expect(cut?.code == nil && cut?.withLimit == 20)
    }

    @Test func `a row has the prices of both editions`() throws {
        var asked = query(1, "rooms", reads: 100)
        (asked.documents, asked.bytes) = (100, 200_000)
        var listened = listen(2, "rooms", first: 0, changes: 10)
        (listened.documents, listened.bytes) = (10, 60_000)
        let row = try #require(WhatIf([listened, asked], limit: 20).rows.first)
        // 100 documents of 2,032 bytes and 100 entries of 128; ten changes of 6,032 bytes. The
        // listener's first answer is priced as one document.
        #expect(row.units == BilledUnits(read: 104 + 3, realtimeUpdate: 20))
        #expect(abs(row.dollarsStandard - 111 * 0.06 / 100_000) < 1e-12)
        #expect(abs(row.dollarsEnterprise - (107 * 0.10 + 20 * 0.60) / 1_000_000) < 1e-12)
    }

    @Test func `rows are bounded, the most expensive first`() {
        let entries = (1...60).map { query($0, "c\($0)", reads: 100 + $0) }
        let rows = WhatIf(entries, limit: 20).rows
        #expect(rows.count == WhatIf.maxRows && rows[0].asked == "c60")
    }
}
