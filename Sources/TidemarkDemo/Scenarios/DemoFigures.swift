import Foundation

/// All that a demo measured, for its file and its exit code.
struct DemoFigures: Sendable {
    /// The three clients; nil where they were not played.
    var clients: DemoReport?
    var chats: [ScenarioResult] = []
    var messages: [ScenarioResult] = []
    var health: [ScenarioResult] = []
    var launches: LaunchDemoFigures?
    var signUps: [LaunchScenario<SignUpFigures>] = []
    var pictures: [LaunchScenario<[String: Double]>] = []
    /// How long all of it took; nil where not all was played.
    var times: DemoTimes?

    /// Whatever is measured row by row.
    var scenarios: [ScenarioResult] { chats + messages + health }

    /// Sentences; none when all holds.
    var complaints: [String] {
        var complaints = times?.complaints ?? []
        if let tidemark = clients?.clients.last, !tidemark.isFaithful {
            complaints.append("Tidemark did not show just what was there.")
        }
        if let clients, let tidemark = clients.clients.last {
            complaints += clients.bar.complaints(reads: tidemark.reads, seconds: clients.seconds)
        }
        for result in scenarios where !result.holds {
            let reasons = result.complaints.joined(separator: "; ")
            complaints.append(
                "\(result.name), \(result.network.rawValue), does not hold: \(reasons).")
        }
        complaints += launches?.complaints ?? []
        complaints += signUps.filter { !$0.holds }.map {
            "\($0.name), \($0.network), does not hold: \($0.bar)."
        }
        complaints += pictures.filter { !$0.holds }.map {
            "\($0.name), \($0.network), does not hold: \($0.bar)."
        }
        return complaints
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(self)
    }
}

extension DemoFigures: Encodable {
    private enum Key: String, CodingKey { case clients, seconds, times, scenarios }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        if let clients {
            let figures = clients.clients.map { ClientFigures($0, in: clients) }
            try container.encode(figures, forKey: .clients)
            try container.encode(clients.seconds, forKey: .seconds)
        }
        try container.encodeIfPresent(times, forKey: .times)
        var list = container.nestedUnkeyedContainer(forKey: .scenarios)
        for scenario in scenarios { try list.encode(scenario) }
        for scenario in launches?.scenarios ?? [] { try list.encode(scenario) }
        for scenario in signUps { try list.encode(scenario) }
        for scenario in pictures { try list.encode(scenario) }
    }
}

/// One of the three clients.
private struct ClientFigures: Encodable {
    struct FirstContent: Encodable {
        let median, p99: Double
    }

    let name: String
    let opens, reads, missed, doubled, editsMissed, deletedShown, bytes: Int
    let saved, priceDollars: Double
    let firstContentMs: FirstContent

    init(_ tally: Tally, in report: DemoReport) {
        name = tally.name
        (opens, reads, bytes) = (tally.opens, tally.reads, tally.bytes)
        missed = tally.difference.missed.count
        doubled = tally.difference.doubled.count
        editsMissed = tally.difference.outdated.count
        deletedShown = tally.difference.deletedShown.count
        saved = report.saved(tally)
        priceDollars = report.price(tally)
        firstContentMs = FirstContent(
            median: tally.firstContentMilliseconds(share: 0.5),
            p99: tally.firstContentMilliseconds(share: 0.99))
    }
}
