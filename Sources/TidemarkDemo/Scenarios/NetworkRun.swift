import Foundation
import TidemarkModel
import TidemarkServer

/// Plays all rows on one network, one after the other, with a separate server.
struct NetworkRun {
    /// The maximum number of times at which news arrives. It is small, because each move of the
    /// clock is a call.
    private static let moments = 12

    let network: DemoNetwork
    let ground: Ground
    private let server: ServerProcess
    private let direct: DirectServer
    private let clock: NetworkClock

    init(_ network: DemoNetwork, _ ground: Ground) async throws {
        self.network = network
        self.ground = ground
        // The gate is open, because the networks that act on connections need one later.
        server = try await ground.server(options: ["--network", "healthy"])
        direct = DirectServer(server)
        clock = NetworkClock(ground.clock, server)
    }

    func play(_ row: any ScenarioRow) async throws -> ScenarioResult {
        try await clock.pass(Ground.pause)
        for side in row.sides { try await useLast(row, side) }
        try await happen(row.news, over: row.away)
        var measured: [Side: Measured] = [:]
        let (_, speed) = try await TimeJudge.timed {
            for side in row.sides { measured[side] = try await measure(row, side) }
        }
        return ScenarioResult(
            name: row.name, network: network, bar: row.bar, before: measured[.before] ?? Measured(),
            filtered: row.isFilteredAsBefore ? measured[.before] : measured[.filtered],
            after: measured[.after] ?? Measured(), away: row.isUsedBefore ? row.away : nil,
            speed: speed)
    }

    /// Plays the device's previous use, on a healthy network.
    private func useLast(_ row: any ScenarioRow, _ side: Side) async throws {
        let place = try ground.place(row, side, on: server)
        try await row.oldUse(side, at: place)
        let client = try await DeviceClient(side, place, label: "preparation")
        try await row.lastUse(side, client.firestore)
        await client.close()
    }

    func end() async {
        await direct.close()
        server.stop()
    }

    /// Plays the news over exactly `seconds` between the last use and the measured use.
    private func happen(_ news: [Mutation], over seconds: Int64) async throws {
        // This change follows the last use, so the server forgets that use together with this
        // change or not at all.
        try await clock.pass(1)
        try await direct.forget()
        let moments = max(1, min(news.count, Self.moments))
        let rest = seconds - 1 - Ground.pause
        precondition(rest >= Int64(moments))
        for moment in 0..<moments {
            let part = news[(news.count * moment / moments)..<(news.count * (moment + 1) / moments)]
            try await clock.pass(
                rest * Int64(moment + 1) / Int64(moments)
                    - rest * Int64(moment) / Int64(moments))
            try await direct.play(Array(part))
        }
        try await clock.pass(Ground.pause)
        try await direct.forget(news.count)
    }

    private func measure(_ row: any ScenarioRow, _ side: Side) async throws -> Measured {
        let label = "\(row.slug).\(side.rawValue)"
        let place = try ground.place(row, side, on: server)
        let labels = [label] + (side == .after ? row.otherLabels : [])
        let faults = row.faults(label: label) + labels.flatMap(network.faults)
        try await server.order(network.profile, rules: faults.map(\.rule))
        let visit = Visit(
            network: network, place: place, side: side, labels: labels, server: server,
            direct: direct, faults: faults,
            clock: clock, waitsForContent: side == .after && row.bar.showsContentOffline)
        var shown: [ShownItem] = []
        var failure: String?
        do {
            shown = try await within(row.patience) { try await row.use(side, visit) }
        } catch { failure = "\(error)" }
        var measured = await visit.end()
        let applied = try await server.faultsApplied()
        try await server.order(.healthy)
        measured.failure = failure
        measured.difference = Difference(shown, against: try await row.truth(side, direct))
        measured.lostAnswers = zip(faults, applied).filter(\.0.isBilled).map(\.1).reduce(0, +)
        var (documents, rules) = (0, 0)
        for label in labels {
            let reads = try await server.reads(of: label)
            documents += reads.documents
            rules += reads.rules
        }
        measured.reads = documents
        measured.figures["reads of rules"] = Double(rules)
        return measured
    }
}

/// The clock of a network's server. It moves between the rows, and during rows that last several
/// days.
actor NetworkClock {
    private var seconds: Int64
    private let server: ServerProcess

    /// - Parameter seconds: The present time of the server's clock, in seconds since 1970.
    init(_ seconds: Int64, _ server: ServerProcess) {
        self.seconds = seconds
        self.server = server
    }

    func pass(_ duration: Int64) async throws {
        seconds += duration
        try await server.setClock(secondsSince1970: seconds)
    }
}
