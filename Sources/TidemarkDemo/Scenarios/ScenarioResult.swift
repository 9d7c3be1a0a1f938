import Tidemark
import TidemarkModel

/// The result of one row of a journey on one network.
struct ScenarioResult: Sendable {
    let name: String
    let network: DemoNetwork
    let bar: Bar
    var edition = DatabaseEdition.standard
    var before: Measured
    /// The results of the app that filters by an item's own time; nil if the row has no such app.
    var filtered: Measured?
    var after: Measured
    /// The number of seconds since the device's last use; nil for a device without data.
    var away: Int64?
    /// The machine's speed during the measurement; nil if times are not judged.
    var speed: MachineSpeed?

    var complaints: [String] {
        let unforeseen =
            after.failure == nil
            ? after.forecast?.complaint(billed, in: edition, lost: after.lostAnswers) : nil
        return bar.complaints(before: before, after: after, on: network)
            + [unforeseen].compactMap(\.self)
    }
    /// The bill of the use on Tidemark.
    private var billed: PlannedBill { PlannedBill(reads: after.reads, units: after.units) }
    /// The predicted bill in words; nil if the row has none.
    var forecastText: String? {
        after.forecast.map { "predicted \($0.text(in: edition, lost: after.lostAnswers))" }
    }
    var slow: [SlowTime] { bar.slow(after, on: network) }
    var holds: Bool { complaints.isEmpty }
}

extension ScenarioResult: Encodable {
    private enum Key: String, CodingKey {
        case name, network, edition, holds, bar, before, filtered, after, why, slow, machine
        case awaySeconds
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(network.rawValue, forKey: .network)
        try container.encode(edition, forKey: .edition)
        try container.encode(holds, forKey: .holds)
        try container.encode(bar.text, forKey: .bar)
        try container.encode(before, forKey: .before)
        try container.encodeIfPresent(filtered, forKey: .filtered)
        try container.encode(after, forKey: .after)
        try container.encodeIfPresent(away, forKey: .awaySeconds)
        try container.encodeIfPresent(speed, forKey: .machine)
        if !holds { try container.encode(complaints, forKey: .why) }
        if !slow.isEmpty { try container.encode(slow, forKey: .slow) }
    }
}
