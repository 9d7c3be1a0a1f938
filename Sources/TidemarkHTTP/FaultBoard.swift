import Hummingbird
import Synchronization
import TidemarkResilience
public import TidemarkServer

/// Accepts orders of faults for calls in a transport, for requests of the storage port and for
/// connections at gates. The network is one state for all of them.
public final class FaultBoard: Sendable {
    private let transport: FaultyTransport
    private let objects: ObjectsServer?
    private let gates: NetworkGates?
    private let network: Mutex<NetworkProfile>
    /// Orders are played one after the other, so that all gates end with the same network.
    /// The connections of the control port limit how many wait.
    private let turns = Serial()

    /// - Parameters:
    ///   - objects: The files; nil if the server has none.
    ///   - gates: The gates; nil if the server has none. Networks that need a gate are then
    ///     refused.
    ///   - network: The network from the start.
    public init(
        _ transport: FaultyTransport, objects: ObjectsServer? = nil, gates: NetworkGates? = nil,
        network: NetworkProfile = .healthy
    ) {
        self.transport = transport
        self.objects = objects
        self.gates = gates
        self.network = Mutex(network)
        orderOfCalls(network)
    }

    /// Opens a gate to a port of this machine, in the present network.
    ///
    /// - Returns: The gate's port, even if the network refuses connections.
    /// - Throws: ``ControlServerError`` if the gate cannot listen at its address.
    public func open(
        _ gate: NetworkGate, to upstream: Int
    ) async throws(ControlServerError) -> Int {
        try await turns.run { [self] () async throws(ControlServerError) in
            try await gate.open(to: upstream, network.withLock { $0 })
        }
    }

    package var state: FaultState {
        FaultState(
            network: network.withLock { $0 }.rawValue,
            rules: transport.entries.map {
                FaultState.Rule(
                    rule: "\($0.rule)", matched: $0.matched, applied: $0.applied)
            })
    }

    /// - Parameters:
    ///   - network: The new network; nil leaves it unchanged.
    ///   - rules: The new rules; nil leaves them unchanged.
    /// - Throws: ``Refusal`` with the reason. If a gate cannot listen again, the network is the
    ///   earlier one at all ports, and the new rules are in force.
    func order(network: NetworkProfile?, rules: [FaultRule]?) async throws(Refusal) {
        try await turns.run { [self] () async throws(Refusal) in
            try await play(network: network, rules: rules)
        }
    }

    private func play(network: NetworkProfile?, rules: [FaultRule]?) async throws(Refusal) {
        if let network, network.needsGate, gates == nil {
            throw Refusal(
                .conflict,
                """
                The network \(network.rawValue) needs gates in front of the server's ports. Start \
                the server with --network, as in --network healthy.
                """)
        }
        if let rules {
            do throws(FaultRuleError) { try transport.order(rules) } catch {
                throw Refusal(.badRequest, error.message)
            }
        }
        guard let network else { return }
        let earlier = self.network.withLock { $0 }
        // The rules come first, so connections that the gates reset begin again under them.
        orderOfCalls(network)
        do throws(ControlServerError) { try await gates?.play(network, after: earlier) } catch {
            orderOfCalls(earlier)
            throw Refusal(
                .conflict, "\(error.message). The network is still \(earlier.rawValue).")
        }
        self.network.withLock { $0 = network }
    }

    /// Sets the network's faults on whole calls.
    private func orderOfCalls(_ network: NetworkProfile) {
        transport.order(network)
        objects?.faults.network.order(network)
    }
}

/// The faults in force, in the answer of `GET /tidemark/v1/faults`.
package struct FaultState: Encodable, Sendable {
    package let network: String
    package let rules: [Rule]

    package struct Rule: Encodable, Sendable {
        package let rule: String
        /// The number of matching calls, and the number of calls to which the rule was applied.
        package let matched: Int
        package let applied: Int
    }
}

/// The body `{"network": NAME, "rules": [RULE, …]}`, in which both fields are optional. A rule is a
/// text in the form of `--fault`, or an object with the same keys:
/// `{"rpc": "Commit", "error": "UNAVAILABLE"}`.
struct FaultOrder: Decodable {
    let network: String?
    let rules: [RuleForm]?

    enum RuleForm: Decodable {
        case text(String)
        case fields([String: FieldForm])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .fields(try container.decode([String: FieldForm].self))
            }
        }
    }

    /// A field's value: true means a key without a value, false means no key.
    enum FieldForm: Decodable {
        case flag(Bool)
        case value(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let whole = try? container.decode(Int.self) {
                self = .value("\(whole)")
            } else if let number = try? container.decode(Double.self) {
                self = .value("\(number)")
            } else {
                self = .value(try container.decode(String.self))
            }
        }
    }

    func parsed() throws(Refusal) -> (network: NetworkProfile?, rules: [FaultRule]?) {
        var profile: NetworkProfile?
        if let network {
            profile = NetworkProfile(rawValue: network)
            if profile == nil {
                let names = NetworkProfile.allCases.map(\.rawValue).joined(separator: ", ")
                throw Refusal(.badRequest, "The network must be one of \(names).")
            }
        }
        guard let rules else { return (profile, nil) }
        var parsed: [FaultRule] = []
        for form in rules {
            do throws(FaultRuleError) { parsed.append(try form.rule()) } catch {
                throw Refusal(.badRequest, error.message)
            }
        }
        return (profile, parsed)
    }
}

extension FaultOrder.RuleForm {
    fileprivate func rule() throws(FaultRuleError) -> FaultRule {
        switch self {
        case .text(let text): return try FaultRule(text)
        case .fields(let fields):
            var pairs: [(key: String, value: String?)] = []
            for (key, form) in fields.sorted(by: { $0.key < $1.key }) {
                switch form {
                case .flag(true): pairs.append((key, nil))
                case .flag(false): break
                case .value(let value): pairs.append((key, value))
                }
            }
            return try FaultRule(fields: pairs)
        }
    }
}
