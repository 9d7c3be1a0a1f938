import Hummingbird
import Synchronization
public import TidemarkServer

/// Accepts orders of faults: for calls in a transport, and for connections at a gate.
public final class FaultBoard: Sendable {
    private let transport: FaultyTransport
    private let gate: NetworkGate?
    private let network: Mutex<NetworkProfile>

    /// - Parameters:
    ///   - gate: The gate; nil if the server has none. Networks that need a gate are then refused.
    ///   - network: The network that the gate already simulates.
    public init(
        _ transport: FaultyTransport, gate: NetworkGate? = nil,
        network: NetworkProfile = .healthy
    ) {
        self.transport = transport
        self.gate = gate
        self.network = Mutex(network)
        transport.order(network)
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
    func order(network: NetworkProfile?, rules: [FaultRule]?) async throws(Refusal) {
        if let network, network.needsGate, gate == nil {
            throw Refusal(
                .conflict,
                """
                The network \(network.rawValue) needs a gate in front of the gRPC port. Start \
                the server with --network, as in --network healthy.
                """)
        }
        if let rules {
            do throws(FaultRuleError) { try transport.order(rules) } catch {
                throw Refusal(.badRequest, error.message)
            }
        }
        guard let network else { return }
        // The rules come first, so connections that the gate resets begin again under them.
        transport.order(network)
        self.network.withLock { $0 = network }
        do throws(ControlServerError) { try await gate?.play(network) } catch {
            throw Refusal(.conflict, error.message)
        }
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
