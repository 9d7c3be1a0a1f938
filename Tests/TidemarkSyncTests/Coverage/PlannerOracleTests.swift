import Testing
import TidemarkModel

@testable import TidemarkSync

/// Runs the planner, the records and the audit against a server that is a set of rows. After a sync
/// that ends, the device must hold exactly the server's rows, whatever happened to them and
/// wherever earlier syncs were interrupted.
struct `Planned reads` {
    struct Item: Hashable {
        let path: DocumentPath
        var time: Timestamp
        var changed: Timestamp
        var version: Timestamp

        var book: FeedBookRow {
            FeedBookRow(path: path, itemTime: time, changeTime: changed, updateTime: version)
        }
    }

    /// A server, and a device that reads the server by plans.
    struct Pair {
        let rules: FeedRules
        var server: [DocumentPath: Item] = [:]
        var held: [DocumentPath: Item] = [:]
        var progress = FeedProgress(overlap: .seconds(300))
        var action: Timestamp?
        var now: Int64 = 1_000_000
        var random: SeededRandom

        var time: Timestamp { Timestamp(seconds: now, nanoseconds: 0) }

        func rows(
            _ all: [DocumentPath: Item], in range: Range<CoveragePosition>
        ) -> [Item] {
            all.values.filter {
                range.lowerBound <= .before($0.time, $0.path)
                    && .after($0.time, $0.path) <= range.upperBound
            }.sorted { ($1.time, $1.path) < ($0.time, $0.path) }
        }

        func figures(_ rows: [Item]) -> FeedAudit.Figures {
            FeedAudit.Figures(
                count: rows.count, sum: rows.reduce(0) { $0 + Double($1.version.seconds) })
        }

        /// - Returns: The number of billed rows, and the unread rest of the range.
        mutating func read(_ plan: ReadPlan) -> (reads: Int, rest: Range<CoveragePosition>?) {
            var rows: [Item]
            var rest: Range<CoveragePosition>?
            switch plan.question {
            case .changes(let since, let after):
                rows = server.values.filter { item in
                    item.changed >= since
                        && after.map { ($0.changeTime, $0.path) < (item.changed, item.path) }
                            ?? true
                }.sorted { ($0.changed, $0.path) < ($1.changed, $1.path) }
                rows = Array(rows.prefix(plan.pageSize))
            case .items(let range):
                rows = Array(self.rows(server, in: range).prefix(plan.pageSize))
                let covered = FeedProgress.covered(
                    by: rows.map(\.book), of: range, isLast: rows.count < plan.pageSize)
                for gone in self.rows(held, in: covered) { held[gone.path] = nil }
                if range.lowerBound < covered.lowerBound {
                    rest = range.lowerBound..<covered.lowerBound
                }
            case .figures, .changeCount, .marks: return (0, nil)
            }
            _ = progress.receive(rows.map(\.book), of: plan, readTime: time, rules: rules)
            if let action { progress.cut(action: action) }
            for row in rows { held[row.path] = row }
            return (max(1, rows.count), rest)
        }

        mutating func audit(_ ranges: [Range<CoveragePosition>]) {
            var audit = FeedAudit(ranges)
            while let step = audit.next {
                switch step {
                case .compare(let range, let expected, _):
                    let here = rows(held, in: range)
                    let middle = here.isEmpty ? nil : here[(here.count - 1) / 2]
                    audit.compared(
                        held: figures(here),
                        server: expected == nil ? figures(rows(server, in: range)) : nil,
                        middle: middle.map { .before($0.time, $0.path) }, at: time)
                case .read(let range):
                    audit.wasRead(rest: read(ReadPlanner.readAgain(range, rules)).rest)
                }
            }
            progress.confirm(audit.confirmed, asOf: time)
        }

        /// - Returns: True if the sync ended, false if it was interrupted.
        mutating func sync(mayBreak: Bool) -> Bool {
            var reach = SyncReach()
            for _ in 0..<10_000 {
                guard
                    let plan = ReadPlanner.next(
                        progress, reach: reach, action: action, rules: rules)
                else {
                    return true
                }
                if mayBreak, Int.random(in: 0..<4, using: &random) == 0 { return false }
                if case .figures(let ranges) = plan.question {
                    audit(ranges)
                    reach.hasAudit = true
                } else {
                    let reads = read(plan).reads
                    #expect(plan.prediction.allows(reads), "\(plan) \(reads)")
                    reach.hasHead = true
                    reach.startedAt = reach.startedAt ?? time
                }
                progress = FeedProgress(encoded: progress.encoded, overlap: .seconds(300))!
            }
            return false
        }

        mutating func happen() {
            now += Int64([0, 1, 30, 400, 90_000].randomElement(using: &random)!)
            let id = Int.random(in: 0..<40, using: &random)
            let path = DocumentPath(unchecked: "c/\(id)")
            var changed = time
            var itemTime = now
            if rules.way != .itemTime {
                itemTime -= Int64([0, 0, 5, 100_000].randomElement(using: &random)!)
            }
            if rules.way == .changeTime(audited: false) || rules.way == .changeTime(audited: true) {
                changed = changed.advanced(by: .seconds(-Int.random(in: 0...200, using: &random)))
            }
            switch (rules.way, Int.random(in: 0..<6, using: &random)) {
            case (.audit, 0), (.changeTime(audited: true), 0): server[path] = nil
            case (.itemTime, _) where server[path] != nil: break
            case (_, 1...3) where server[path] != nil && rules.way != .itemTime:
                guard var item = server[path] else { break }
                item.changed = changed
                item.version = time
                if Bool.random(using: &random) {
                    item.time = Timestamp(seconds: itemTime, nanoseconds: 0)
                }
                server[path] = item
            default:
                server[path] = Item(
                    path: path, time: Timestamp(seconds: itemTime, nanoseconds: 0),
                    changed: changed, version: time)
            }
        }
    }

    private static let ways: [FeedRules.Way] = [
        .changeTime(audited: false), .changeTime(audited: true), .audit, .itemTime,
    ]

    @Test(arguments: UInt64(0)..<400)
    func `are complete, whatever happened and wherever they were cut off`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let rules = FeedRules(
            way: Self.ways[Int(seed % 4)],
            pageSize: [1, 2, 3, 50].randomElement(using: &random)!)
        var pair = Pair(rules: rules, random: random)
        for _ in 0..<30 {
            for _ in 0..<Int.random(in: 0..<6, using: &random) { pair.happen() }
            // No read time can separate two events of one second, so the time advances.
            pair.now += 1
            if Int.random(in: 0..<8, using: &random) == 0 {
                // Sets the mark of a clear, or in one of four cases resets the mark.
                let isReset = Int.random(in: 0..<4, using: &random) == 0
                let mark = Timestamp(
                    seconds: pair.now - Int64.random(in: 0..<500, using: &random), nanoseconds: 0)
                pair.action = isReset ? nil : max(mark, pair.action ?? mark)
                if let action = pair.action { pair.progress.cut(action: action) }
            }
            guard pair.sync(mayBreak: Bool.random(using: &random)) else { continue }
            let all = FeedProgress.floor(pair.action)..<CoveragePosition.highest
            let (held, server) = (pair.rows(pair.held, in: all), pair.rows(pair.server, in: all))
            try #require(held == server, "seed \(seed), \(rules.way)")
        }
    }
}
