import Tidemark

/// What the journeys began with: 1,000 users who open a chat fifty times a day, in dollars.
struct Headline {
    static let (users, opensADay) = (1_000, 50)
    /// Where a list price is named, it is this location's.
    static let location = "nam5"

    private let name: String
    private let reads: (before: Int, after: Int)

    /// Of what opening a chat was billed in this run; nil where that was not played.
    init?(_ chats: [ScenarioResult]) {
        let opens = chats.filter { $0.name.hasPrefix("open a chat") }
        guard let open = opens.first(where: { $0.network == .healthy }) ?? opens.first else {
            return nil
        }
        name = open.name
        reads = (open.before.reads, open.after.reads)
    }

    func estimate(_ prices: ReadPrices) -> (before: CostEstimate, after: CostEstimate) {
        func cost(_ reads: Int) -> CostEstimate {
            prices.estimate(
                readsAnOpen: Double(reads), devices: Self.users, opensADay: Self.opensADay)
        }
        return (cost(reads.before), cost(reads.after))
    }

    var lines: [String] {
        let journeys = estimate(.journeys)
        var lines = [
            "\(grouped(Self.users)) users × \(Self.opensADay) times a day: \(name), by its reads above",
            "  at the journeys' own $\(ReadPrices.journeys.per100000) for 100,000 reads",
            "    before:      \(journeys.before)", "    on Tidemark: \(journeys.after)",
        ]
        if let prices = ReadPrices.table[Self.location] {
            let listed = estimate(prices)
            lines += [
                "  at the list price in \(Self.location), $\(prices.per100000) and "
                    + "\(grouped(prices.freePerDay)) a day free",
                "    before:      \(listed.before)", "    on Tidemark: \(listed.after)",
            ]
        }
        return lines
    }
}
