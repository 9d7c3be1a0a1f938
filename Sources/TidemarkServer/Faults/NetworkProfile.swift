import TidemarkModel

/// Networks by name, for a demo or a test.
///
/// Fault rules in ``FaultyTransport`` produce the effects on calls, because single calls are
/// visible there; the storage port applies those for every call to its requests. A gate before each
/// of the two ports produces the effects on connections and bytes: only there are handshakes,
/// frames and pings also delayed, and the gate does not interpret the bytes.
public enum NetworkProfile: String, Hashable, Sendable, CaseIterable {
    case healthy
    /// 400 ms round trip, 1.6 Mbit/s, and 2 % lost packets. Source: journeys 1.
    case threeG = "3g"
    /// Every call takes 18 s. Source: journeys 1.
    case slowBackend = "backend-18s"
    /// Connections are refused.
    case refuse
    /// Connections are accepted and never answered.
    case blackhole
    /// 30 % of the calls and streams end with `UNAVAILABLE`, half of them after they had their
    /// effect; and 30 % of the listens are cut after 20 messages.
    case flaky = "flaky-30"
    /// A login page answers instead of the server.
    case captive

    /// The fault rules of the network. A request of the storage port meets the rules without an
    /// RPC, which have a latency, an error or a lost response.
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
            // The share is of the calls that the first rule has spared, so the result is 15 % of
            // all calls.
            after.selection = .share(0.15 / 0.85)
            after.effects.losesResponse = true
            var cut = FaultRule(.listen)
            cut.selection = .share(0.3)
            cut.effects.cut = .after(20)
            return [before, after, cut]
        }
    }

    /// The effect on connections.
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
            // A lost packet is detected and sent again within a round trip.
            pacing.recovery = .milliseconds(400)
            return .open(pacing)
        }
    }

    /// True if the network needs a gate.
    public var needsGate: Bool {
        switch self {
        case .healthy, .slowBackend, .flaky: false
        case .threeG, .refuse, .blackhole, .captive: true
        }
    }
}

/// The effect of a gate on connections.
package enum NetworkLink: Hashable, Sendable {
    /// Bytes pass in both directions, at this pace.
    case open(Pacing)
    case refused
    case silent
    case captive
}
