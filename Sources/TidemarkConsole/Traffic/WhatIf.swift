import Foundation
import TidemarkModel

/// The recorded queries and listeners, priced as they were, with a limit, and as a feed.
///
/// - With a limit, each call and each first answer of a listener costs at most the limit.
/// - As a feed, a caller's first answer is read in full. Each later call or start reads only what
///   changed; the traffic does not show how much, so it is counted as one read, the least.
///
/// The changes that listeners receive cost the same in each case.
///
/// Each row also has the price of the same answers in both editions. The units of the Enterprise
/// edition are computed from the mean size of the sent documents, as if an index served each query.
struct WhatIf: Hashable, Sendable, Encodable {
    struct Row: Hashable, Sendable, Encodable {
        /// The query in the form of the query bar, without its limit.
        let asked: String
        /// The number of calls and of starts of listeners.
        let calls: Int
        let reads: Int
        let withLimit: Int
        /// The least reads of a feed.
        let asFeed: Int
        /// The units of the same answers in the Enterprise edition, with an index.
        let units: BilledUnits
        /// The price of the reads in the Standard edition, in US dollars.
        let dollarsStandard: Double
        /// The price of the units in the Enterprise edition, in US dollars.
        let dollarsEnterprise: Double
        /// The query with the limit, as Swift code; nil if it cannot be written.
        let code: String?
    }

    let limit: Int
    /// The rows whose reads a limit or a feed would change, the most expensive first.
    let rows: [Row]

    /// The maximum number of rows.
    static let maxRows = 20
    static let limits = 1...10_000

    /// - Parameters:
    ///   - entries: The entries, newest first.
    ///   - limit: The limit to try, in ``limits``.
    ///   - prices: The prices of the Standard edition.
    ///   - unitPrices: The prices of the Enterprise edition.
    init(
        _ entries: [TrafficEntry], limit: Int, prices: ReadPrices = .multiRegion,
        unitPrices: UnitPrices = UnitPrices.table["nam5"]!
    ) {
        precondition(Self.limits.contains(limit))
        self.limit = limit
        var groups: [Group: Sums] = [:]
        for entry in entries.reversed() {
            for answer in Answer.answers(of: entry) {
                let group = Group(database: entry.database, asked: answer.asked)
                groups[group, default: Sums()].add(answer, by: entry.caller, limit: limit)
            }
        }
        let rows = groups.map { group, sums in
            Row(
                asked: group.asked, calls: sums.calls, reads: sums.reads,
                withLimit: sums.withLimit, asFeed: sums.asFeed, units: sums.units,
                dollarsStandard: prices.cost(ofReads: sums.reads),
                dollarsEnterprise: unitPrices.cost(of: sums.units),
                code: Self.code(group.asked, limit, in: group.database))
        }
        self.rows = Array(
            rows.filter { $0.withLimit < $0.reads || $0.asFeed < $0.reads }
                .sorted { ($1.reads, $0.asked) < ($0.reads, $1.asked) }.prefix(Self.maxRows))
    }

    private struct Group: Hashable {
        let database: String
        let asked: String
    }

    private struct Sums {
        var calls = 0
        var reads = 0
        var withLimit = 0
        var asFeed = 0
        var units = BilledUnits()
        private var callers: Set<String> = []

        mutating func add(_ answer: Answer, by caller: String, limit: Int) {
            let isFirst = callers.insert(caller).inserted
            calls += 1
            reads += answer.reads + answer.changes
            units += answer.units
            let most = min(answer.limit ?? limit, limit)
            withLimit += min(answer.reads, most) + answer.changes
            asFeed += (isFirst ? answer.reads : min(answer.reads, 1)) + answer.changes
        }
    }

    private static func code(_ asked: String, _ limit: Int, in database: String) -> String? {
        guard let database = try? DatabaseID(name: database),
            var query = try? QueryText.parse(asked, in: database), query.aggregations.isEmpty
        else { return nil }
        query.query.limit = .first(limit)
        return QueryCode(asked: query, language: .Swift).text.text
    }
}

/// The answer to a query, or to a start of a listener.
private struct Answer {
    /// The query without its limit.
    let asked: String
    let limit: Int?
    /// The reads of the first answer.
    var reads = 0
    /// The reads of the changes after it.
    var changes = 0
    /// The mean size of the documents of the entry, in bytes.
    var documentBytes = 0

    /// The units of the answer in the Enterprise edition, if an index serves the query.
    var units: BilledUnits {
        BilledUnits(
            read: reads == 0
                ? 0
                : UnitBilling.query(
                    documents: reads, documentBytes: documentBytes,
                    entryBytes: UnitBilling.usualEntryBytes),
            realtimeUpdate: changes * UnitBilling.update(bytes: documentBytes))
    }

    private init(_ asked: String) { (self.asked, limit) = Self.withoutLimit(asked) }

    static func answers(of entry: TrafficEntry) -> [Answer] {
        switch entry.method {
        case "RunQuery":
            guard entry.outcome == "OK" else { return [] }
            var answer = Answer(entry.asked)
            answer.reads = entry.reads
            answer.documentBytes = entry.meanDocumentBytes
            return [answer]
        case "Listen": return entry.targets.filter(\.isQuery).map { self.answer($0, of: entry) }
        default: return []
        }
    }

    private static func answer(_ target: TrafficEntry.Target, of entry: TrafficEntry) -> Answer {
        var answer = Answer(target.asked)
        answer.documentBytes = entry.meanDocumentBytes
        var isOpen = false
        for moment in entry.life where moment.target == target.id {
            switch moment.what {
            case .documents where isOpen: answer.changes += moment.documents
            case .documents: answer.reads += moment.documents
            case .current:
                if !isOpen, !target.isResumed { answer.reads = max(1, answer.reads) }
                isOpen = true
            case .asked, .resumed, .removals, .reset, .mismatch, .stopped, .refused: break
            }
        }
        return answer
    }

    /// Returns the query without a limit at its end, and the limit.
    private static func withoutLimit(_ asked: String) -> (String, Int?) {
        guard let mark = asked.range(of: " limit ", options: .backwards),
            let limit = Int(asked[mark.upperBound...])
        else { return (asked, nil) }
        return (String(asked[..<mark.lowerBound]), limit)
    }
}

extension TrafficEntry.Target {
    /// True for a query; false for single documents, whose paths have an even number of parts.
    fileprivate var isQuery: Bool {
        let source = asked.prefix { $0 != " " && $0 != "," }
        return source.hasPrefix("**") || !source.split(separator: "/").count.isMultiple(of: 2)
            || source.contains("**")
    }
}
