import Foundation

/// The figures of a complete demo, for its file and its exit code.
struct DemoFigures: Sendable {
    /// The results of the three clients; nil if they did not run.
    var clients: DemoReport?
    var chats: [ScenarioResult] = []
    var messages: [ScenarioResult] = []
    var health: [ScenarioResult] = []
    var launches: LaunchDemoFigures?
    var signUps: [LaunchScenario<SignUpFigures>] = []
    var pictures: [LaunchScenario<[String: Double]>] = []
    /// The use of the battery in a day; nil if it was not measured.
    var day: LaunchScenario<[String: Double]>?
    /// The times of the complete demo; nil if only a part ran.
    var times: DemoTimes?

    /// The results of the demos that are measured row by row.
    var scenarios: [ScenarioResult] { chats + messages + health }

    /// The failed requirements as sentences; empty if all hold. They include no times.
    var complaints: [String] {
        var complaints = clients?.complaints ?? []
        for result in scenarios where !result.holds {
            let reasons = result.complaints.joined(separator: "; ")
            complaints.append(
                "\(result.name), \(result.network.rawValue), does not hold: \(reasons).")
        }
        complaints += launches?.complaints ?? []
        complaints += signUps.compactMap(\.complaint) + pictures.compactMap(\.complaint)
        complaints += [day?.complaint].compactMap(\.self)
        return complaints
    }

    /// The times that exceeded their limits on this machine.
    var remarks: [String] {
        var remarks = (times?.slow ?? []).map(\.text)
        remarks += (clients?.slow ?? []).map(\.text)
        remarks += scenarios.flatMap { result in
            result.slow.map { "\(result.name), \(result.network.rawValue): \($0.text)" }
        }
        remarks += launches?.remarks ?? []
        remarks += signUps.flatMap(\.remarks) + pictures.flatMap(\.remarks)
        return remarks
    }

    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(self)
    }
}

extension DemoFigures: Encodable {
    private enum Key: String, CodingKey {
        case build, clients, history, machine, seconds, times, scenarios
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Bar.build, forKey: .build)
        if let clients {
            let figures = clients.clients.map { ClientFigures($0, in: clients) }
            try container.encode(figures, forKey: .clients)
            try container.encode(clients.history, forKey: .history)
            try container.encode(clients.seconds, forKey: .seconds)
            try container.encodeIfPresent(clients.speed, forKey: .machine)
        }
        try container.encodeIfPresent(times, forKey: .times)
        var list = container.nestedUnkeyedContainer(forKey: .scenarios)
        for scenario in scenarios { try list.encode(scenario) }
        for scenario in launches?.scenarios ?? [] { try list.encode(scenario) }
        for scenario in signUps { try list.encode(scenario) }
        for scenario in pictures { try list.encode(scenario) }
        if let day { try list.encode(day) }
    }
}

/// The figures of one of the three clients.
private struct ClientFigures: Encodable {
    struct FirstContent: Encodable {
        /// Milliseconds over all opens. `p99` is present only if there are enough opens.
        let median, slowest: Double
        let p99: Double?
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
            median: tally.firstContents.share(0.5) ?? 0, slowest: tally.firstContents.share(1) ?? 0,
            p99: tally.firstContents.p99)
    }
}
