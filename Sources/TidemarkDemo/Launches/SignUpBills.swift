import TidemarkPhones

/// The bills of the devices of one network, beside their figures.
extension LaunchScenario<SignUpFigures> {
    /// Returns the row with the bills of its devices, and a complaint for each that was not
    /// predicted.
    func withBills(
        of outcomes: [SignUpOutcome], on network: LaunchNetwork, _ ground: LaunchGround,
        _ planner: SignUpPlanner
    ) async throws -> Self {
        let edition = ground.bills.edition
        var figures: [PhoneSide: SignUpFigures] = [.before: before, .after: after]
        var complaints: [String] = []
        for side in PhoneSide.allCases {
            let last = outcomes.filter { $0.device.side == side }.compactMap(\.last)
            // Each device has two launches on the network.
            let killed = PlannedLaunch(
                forecast: planner.forecastOfKilled(launches: 2 * last.count, on: network),
                // tidemark:ignore read-in-loop there are two sides
                bill: try await ground.server.bill(of: network.label(side)))
            let isPlanned = side == .after
            figures[side]?.lastBills = LaunchBills(
                last.map(\.bill), in: edition, predicted: isPlanned ? last.last?.forecast : nil)
            figures[side]?.killedBills = LaunchBills(
                [killed.bill], in: edition, predicted: isPlanned ? killed.forecast : nil)
            if isPlanned {
                complaints += (last + [killed]).compactMap { $0.complaint(in: edition) }
            }
        }
        var row = LaunchScenario(
            name: name, network: self.network, bar: bar, before: figures[.before] ?? before,
            after: figures[.after] ?? after, why: why + complaints, slow: slow)
        row.speed = speed
        return row
    }

    /// The bills as a line of the table; nil before they are known.
    var billLine: String? {
        guard let last = after.lastBills, let killed = after.killedBills else { return nil }
        let bound = killed.predicted?.text(in: killed.edition, lost: 0) ?? ""
        let one = last.predicted?.text(in: last.edition, lost: 0) ?? ""
        return """
            bill on \(network): the last launches \(grouped(last.reads)) reads of \
            \(last.launches), predicted one by one, the last of them \(one); the launches before \
            \(grouped(killed.reads)) reads, predicted \(bound)
            """
    }
}
