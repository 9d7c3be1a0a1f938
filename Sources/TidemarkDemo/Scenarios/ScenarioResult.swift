/// One row of a journey on one network.
struct ScenarioResult: Sendable {
    let name: String
    let network: DemoNetwork
    let bar: Bar
    let before: Measured
    let after: Measured

    var complaints: [String] { bar.complaints(before: before, after: after, on: network) }
    var holds: Bool { complaints.isEmpty }
}

extension ScenarioResult: Encodable {
    private enum Key: String, CodingKey { case name, network, holds, bar, before, after, why }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(network.rawValue, forKey: .network)
        try container.encode(holds, forKey: .holds)
        try container.encode(bar.text, forKey: .bar)
        try container.encode(before, forKey: .before)
        try container.encode(after, forKey: .after)
        if !holds { try container.encode(complaints, forKey: .why) }
    }
}
