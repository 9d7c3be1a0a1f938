import TidemarkModel

/// Networks that a demo or a test can be played on, by name.
///
/// What concerns calls is made of fault rules, in ``FaultyTransport``: there a call can be told from the
/// next one. What concerns connections and bytes happens at a gate in front of the gRPC port: only there
/// are handshakes, frames and pings late as well, and nobody there understands what passes.
public enum NetworkProfile: String, Hashable, Sendable, CaseIterable {
    case healthy
    /// 400 ms there and back, 1.6 Mbit/s, and 2 % of the packets lost. Source: journeys 1.
    case threeG = "3g"
    /// Every call takes 18 s. Source: journeys 1.
    case slowBackend = "backend-18s"
    /// Connections are refused.
    case refuse
    /// Connections are accepted and nothing is ever answered.
    case blackhole
    /// Of the calls and streams 30 % end with `UNAVAILABLE`, half of them when they have done what they
    /// were to do; and of the listens 30 % are cut after 20 messages.
    case flaky = "flaky-30"
    /// A login page answers in the place of the server.
    case captive

    /// What goes wrong with its calls.
    public var rules: [FaultRule] {
        switch self {
        case .healthy, .threeG, .refuse, .blackhole, .captive: return []
        case .slowBackend:
            var rule = FaultRule()
            rule.effects.latency = .seconds(18)
            return [rule]
        case .flaky:
            var before = FaultRule()
            before.selection = .share(0.15)
            before.effects.error = FaultEffects.connectionLost
            var after = FaultRule()
            // Of all that the first has spared, so that 15 % are left.
            after.selection = .share(0.15 / 0.85)
            after.effects.losesResponse = true
            var cut = FaultRule(.listen)
            cut.selection = .share(0.3)
            cut.effects.cut = .after(20)
            return [before, after, cut]
        }
    }

    /// What happens to its connections.
    package var link: NetworkLink {
        switch self {
        case .healthy, .slowBackend, .flaky: return .open(Pacing())
        case .refuse: return .refused
        case .blackhole: return .silent
        case .captive: return .captive
        case .threeG:
            var pacing = Pacing()
            pacing.latency = .milliseconds(200)
            pacing.bytesPerSecond = 200_000
            pacing.loss = 0.02
            // A lost packet is noticed and sent again in a round trip.
            pacing.recovery = .milliseconds(400)
            return .open(pacing)
        }
    }

    /// Whether it can only be played at a gate.
    public var needsGate: Bool {
        switch self {
        case .healthy, .slowBackend, .flaky: false
        case .threeG, .refuse, .blackhole, .captive: true
        }
    }
}

/// What a gate does with connections.
package enum NetworkLink: Hashable, Sendable {
    /// Bytes pass, each way at this pace.
    case open(Pacing)
    case refused
    case silent
    case captive
}
