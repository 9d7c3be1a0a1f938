import Foundation
import Tidemark
import TidemarkModel
import TidemarkServer

/// Plays all rows on one network, one after the other, with a separate server.
struct NetworkRun {
    /// The maximum number of times at which news arrives. It is small, because each move of the
    /// clock is a call.
    private static let moments = 12
    /// The number of seconds after which the server's clock moves on behind the last use. The clock
    /// runs during that use, and a busy machine needs more than a second for it.
    private static let useSeconds: Int64 = 60

    let network: DemoNetwork
    let ground: Ground
    private let server: ServerProcess
    private let direct: DirectServer
    private let clock: NetworkClock
    private let plantsRead: Bool

    /// - Parameter plantsRead: True to make each prediction wrong by one read.
    init(_ network: DemoNetwork, _ ground: Ground, plantsRead: Bool = false) async throws {
        self.network = network
        self.plantsRead = plantsRead
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
            name: row.name, network: network, bar: row.bar, edition: ground.edition,
            before: measured[.before] ?? Measured(),
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
        try await clock.pass(Self.useSeconds)
        try await direct.forget()
        let moments = max(1, min(news.count, Self.moments))
        let rest = seconds - Self.useSeconds - Ground.pause
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
        let forecast = side == .after ? await forecast(row, place) : nil
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
        var rules = 0
        for label in labels {
            let bill = try await server.bill(of: label)
            measured.reads += bill.documents
            measured.units += bill.unitsRead
            rules += bill.rules
        }
        measured.figures["reads of rules"] = Double(rules)
        do { measured.forecast = try measured.forecast ?? forecast?.get() } catch {
            measured.failure = measured.failure ?? "it has no prediction: \(error)"
        }
        if plantsRead { measured.forecast?.add("planted: 1", .document(bytes: 1)) }
        return measured
    }

    /// Returns the predicted bill of the use, from the files of the device. Asks no server.
    private func forecast(
        _ row: any ScenarioRow, _ place: DemoPlace
    ) async -> Result<Forecast?, any Error> {
        do { return .success(try await planned(row, place)) } catch { return .failure(error) }
    }

    private func planned(_ row: any ScenarioRow, _ place: DemoPlace) async throws -> Forecast? {
        let label = "\(row.slug).planning"
        // The device was away by the server's clock, and its own clock has not moved.
        let client = try await DeviceClock.$ahead.withValue(.seconds(row.away)) {
            try await DeviceClient(.after, place, label: label)
        }
        var forecast: Forecast?
        var failure: (any Error)?
        do { forecast = try await row.forecast(client.firestore) } catch { failure = error }
        await client.close()
        if let failure { throw failure }
        let bill = try await server.bill(of: label)
        if bill.documents > 0 { throw Forecast.PlanHasReads() }
        return forecast
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
