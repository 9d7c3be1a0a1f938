import Tidemark

/// The cost of 1,000 users who open a chat fifty times a day, in dollars. The journeys
/// began with this question.
///
/// In this estimate, no open follows another within 30 minutes. A listener that returns sooner is
/// billed only for the changes. The summary shows the cost of such opens, too.
struct Headline {
    static let (users, opensADay) = (1_000, 50)
    /// The location whose list price the summary uses.
    static let location = "nam5"

    private let open: ScenarioResult
    /// The same open within 30 minutes of the last one; nil if that row was not played.
    private let again: ScenarioResult?

    /// Uses the reads of the row that opens a chat; nil if that row was not played.
    init?(_ chats: [ScenarioResult]) {
        let opens = chats.filter { $0.name.hasPrefix("open a chat") }
        func on(_ network: DemoNetwork?, isSoon: Bool) -> ScenarioResult? {
            opens.first {
                ($0.away.map { $0 <= Ground.resumable } ?? false) == isSoon
                    && (network == nil || $0.network == network)
            }
        }
        guard let open = on(.healthy, isSoon: false) ?? on(nil, isSoon: false) else { return nil }
        self.open = open
        again = on(open.network, isSoon: true)
    }

    func estimate(_ prices: ReadPrices, _ measured: Measured) -> CostEstimate {
        prices.estimate(
            readsAnOpen: Double(measured.reads), devices: Self.users, opensADay: Self.opensADay)
    }

    var lines: [String] {
        var lines = [
            "\(grouped(Self.users)) users × \(Self.opensADay) opens a day more than 30 minutes apart: "
                + "\(open.name), by its reads above",
            "  at the journeys' price of $\(ReadPrices.journeys.per100000) for 100,000 reads",
        ]
        lines += costs(of: open, .journeys)
        if let prices = ReadPrices.table[Self.location] {
            lines.append(
                "  at the list price in \(Self.location), $\(prices.per100000) and "
                    + "\(grouped(prices.freePerDay)) a day free")
            lines += costs(of: open, prices)
        }
        if let again {
            lines.append(
                "  as many opens within 30 minutes of the previous one: "
                    + "\(reads(again.before)) before, \(reads(again.after)) on Tidemark each")
            lines += costs(of: again, .journeys)
        }
        return lines
    }

    private func reads(_ measured: Measured) -> String {
        measured.reads == 1 ? "1 read" : "\(grouped(measured.reads)) reads"
    }

    private func costs(of row: ScenarioResult, _ prices: ReadPrices) -> [String] {
        var lines = ["    before:      \(estimate(prices, row.before))"]
        if let filtered = row.filtered {
            let lost = filtered.difference.isNone ? "" : ", and loses items"
            lines.append("    filtered:    \(estimate(prices, filtered))\(lost)")
        }
        return lines + ["    on Tidemark: \(estimate(prices, row.after))"]
    }
}
