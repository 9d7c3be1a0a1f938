import Foundation

/// The figures of one scenario, in the form that every demo writes.
struct LaunchScenario<Figures: Encodable & Sendable>: Encodable, Sendable {
    let name: String
    let network: String
    let bar: String
    let before: Figures
    let after: Figures
    /// The failed requirements; empty if all hold.
    let why: [String]
    /// The times that exceeded their limits.
    var slow: [SlowTime] = []
    /// The machine's speed during the measurement; nil if times are not judged.
    var speed: MachineSpeed?

    init(
        name: String, network: String, bar: String, before: Figures, after: Figures,
        why: [String] = [], slow: [SlowTime] = []
    ) {
        (self.name, self.network, self.bar) = (name, network, bar)
        (self.before, self.after, self.why, self.slow) = (before, after, why, slow)
    }

    var holds: Bool { why.isEmpty }

    /// The failure as a sentence; nil if all requirements hold.
    var complaint: String? {
        holds ? nil : "\(name), \(network), does not hold: \(why.joined(separator: "; "))."
    }

    /// The text after the row; empty if it holds and no time was too long.
    var verdict: String {
        if !holds { return "  DOES NOT HOLD" }
        return slow.isEmpty ? "" : "  " + slow.remark
    }

    var remarks: [String] { slow.map { "\(name), \(network): \($0.text)" } }

    private enum Key: String, CodingKey {
        case name, network, holds, bar, before, after, why, slow, machine
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(network, forKey: .network)
        try container.encode(holds, forKey: .holds)
        try container.encode(bar, forKey: .bar)
        try container.encode(before, forKey: .before)
        try container.encode(after, forKey: .after)
        if !holds { try container.encode(why, forKey: .why) }
        if !slow.isEmpty { try container.encode(slow, forKey: .slow) }
        try container.encodeIfPresent(speed, forKey: .machine)
    }
}
