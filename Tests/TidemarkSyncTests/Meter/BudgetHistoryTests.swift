import Testing
import TestSupport
import TidemarkModel
import TidemarkTestKit

@testable import TidemarkSync

/// Plays days of an app with a budget of 1,000 reads, which is killed at any moment between its
/// requests and their answers. `TIDEMARK_BUDGET_DAYS=17` plays one day, `0..<1000` more.
struct BudgetHistoryTests {
    private static let budget = ReadBudget(.all, readsPerDay: 1_000, .degradeToCache)
    private static let page = 50
    private static let noon = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)

    /// A day: the app, its file, and the server with its own count of what it bills.
    private struct Day {
        var file = TemporaryFile()
        var app: Harness?
        var random: SeededRandom
        /// The reads that the server has billed.
        var billed = 0
        var kills = 0
        /// The requests under way, with the number of rows of each answer.
        var open: [(call: ScriptedCall, rows: Int)] = []
        /// True if a kill loses the file, which is the planted defect.
        let forgets: Bool

        init(seed: UInt64, forgets: Bool) throws {
            random = SeededRandom(seed: seed)
            self.forgets = forgets
            try start()
        }

        mutating func start() throws {
            app = try Harness(cacheFile: file.path, readBudgets: [budget])
        }

        mutating func number(below most: Int) -> Int { Int(random.next() % UInt64(most)) }
        mutating func chance(_ percent: Int) -> Bool { number(below: 100) < percent }

        mutating func kill() throws {
            kills += 1
            app?.engine.abandon()
            app = nil
            // Answers under way are lost, and their reads stay billed.
            open = []
            if forgets { file = TemporaryFile() }
            try start()
        }

        /// Asks for a page or a document.
        ///
        /// - Returns: False if the budget sends no request.
        mutating func ask() throws -> Bool {
            let app = try #require(app)
            let before = app.transport.calls.count
            let size = chance(80) ? 1 + number(below: page) : 1
            if size == 1, chance(50) {
                _ = app.read(path("rooms/a"), source: .server)
            } else {
                _ = app.read(rooms { $0.limit = .first(size) }, source: .server)
            }
            let calls = app.transport.calls
            guard calls.count > before else { return false }
            for call in calls[before...] {
                let rows = chance(70) ? size : number(below: size + 1)
                billed += max(1, rows)
                open.append((call, rows))
            }
            return true
        }

        mutating func answer() throws {
            let app = try #require(app)
            let (call, rows) = open.remove(at: number(below: open.count))
            if call.isEnded { return }
            if case .batchGetDocuments = call.request {
                call.reply(
                    .batchGetDocuments(
                        BatchGetResult(row: .found(doc("rooms/a", 10)), readTime: noon)))
            } else {
                for number in 0..<rows {
                    call.reply(
                        .runQuery(
                            RunQueryReply(document: doc("rooms/r\(number)", 10), readTime: noon)),
                        ends: false)
                }
                if rows == 0 { call.reply(.runQuery(RunQueryReply(readTime: noon)), ends: false) }
                call.end()
            }
            app.run()
        }

        mutating func play(check: (Day) throws -> Void) throws {
            var refused = 0
            while refused < 5 {
                if open.count < 3, open.isEmpty || chance(60) {
                    refused = try ask() ? 0 : refused + 1
                } else {
                    try answer()
                }
                if chance(8) { try kill() }
                try check(self)
                // Requests under way are answered before the next ones.
                if refused > 0 { while !open.isEmpty { try answer() } }
            }
            app?.engine.abandon()
        }
    }

    @Test(.ownThread, arguments: SeedRange("TIDEMARK_BUDGET_DAYS", 0..<150).all)
    func `a day's budget is passed by no more than a page`(seed: UInt64) throws {
        var day = try Day(seed: seed, forgets: false)
        try day.play { day in
            try #require(
                day.billed <= Self.budget.readsPerDay + Self.page,
                "seed \(seed): \(day.billed) reads after \(day.kills) kills")
        }
        #expect(
            day.kills > 0 || day.billed > Self.budget.readsPerDay - Self.page,
            "seed \(seed): without kills the budget is used, and not only \(day.billed) reads")
    }

    @Test func `a budget that a kill forgets is passed`() throws {
        var worst = 0
        for seed in UInt64(0)..<5 {
            var day = try Day(seed: seed, forgets: true)
            struct Enough: Error {}
            do {
                try day.play { day in
                    worst = max(worst, day.billed)
                    if worst > 2 * Self.budget.readsPerDay { throw Enough() }
                }
            } catch is Enough { break }
        }
        #expect(worst > Self.budget.readsPerDay + Self.page)
    }
}
