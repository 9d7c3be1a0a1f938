import ArgumentParser
import Foundation
import TidemarkHTTP
import TidemarkPhones
import TidemarkServer

/// The seven networks of journeys 1 on which an app is launched.
enum LaunchNetwork: String, CaseIterable, Sendable, ExpressibleByArgument {
    case healthy
    /// 400 ms there and back, 1.6 Mbit/s, 2 % of the packets lost.
    case threeG = "3g"
    /// Every call of Firestore's takes 18 s.
    case slow = "18s"
    case refused
    /// Packets vanish.
    case blackhole
    /// No name is found.
    case offline
    case captive

    /// What a phone there says of itself.
    func label(_ side: PhoneSide) -> String { "\(rawValue).\(side.rawValue)" }

    /// For the server to be slow with the phones of the slow network.
    static let serverOptions = PhoneSide.allCases.flatMap { side in
        ["--fault", "label=\(Self.slow.label(side)),latency=18s"]
    }

    /// Of the pictures' server, which has one gate for all networks: the address of a picture is its name
    /// on the device.
    var pictures: NetworkProfile { self == .offline ? .refuse : profile }

    /// Whether an answer comes before a person has gone.
    var reachesServer: Bool { self == .healthy || self == .threeG }

    /// At the gate.
    var profile: NetworkProfile {
        switch self {
        case .healthy, .slow, .offline: .healthy
        case .threeG: .threeG
        case .refused: .refuse
        case .blackhole: .blackhole
        case .captive: .captive
        }
    }
}

/// Where a device on one network finds its two servers.
struct LaunchPlace: Sendable {
    /// As in `127.0.0.1:8080`.
    let firestore: String
    let accounts: String
}

/// A gate for each network in front of each of the two ports of a server.
struct LaunchGates: Sendable {
    let places: [LaunchNetwork: LaunchPlace]
    /// Past all networks.
    let direct: LaunchPlace
    private let gates: [NetworkGate]

    init(firestore: Int, accounts: Int, _ networks: [LaunchNetwork]) async throws {
        direct = LaunchPlace(
            firestore: "127.0.0.1:\(firestore)", accounts: "127.0.0.1:\(accounts)")
        var places: [LaunchNetwork: LaunchPlace] = [:]
        var gates: [NetworkGate] = []
        for network in networks {
            var ports: [Int] = []
            for upstream in [firestore, accounts] {
                let gate = NetworkGate(host: "127.0.0.1", port: 0)
                ports.append(try await gate.open(to: upstream, network.profile))
                gates.append(gate)
            }
            let host = network == .offline ? "offline.invalid" : "127.0.0.1"
            places[network] = LaunchPlace(
                firestore: "\(host):\(ports[0])", accounts: "\(host):\(ports[1])")
        }
        (self.places, self.gates) = (places, gates)
    }

    func close() async {
        for gate in gates { await gate.close() }
    }
}

/// One scenario's figures, as every demo writes them.
struct LaunchScenario<Figures: Encodable & Sendable>: Encodable, Sendable {
    let name: String
    let network: String
    let holds: Bool
    let bar: String
    let before: Figures
    let after: Figures
}

/// The file of a demo's figures. What they are differs from scenario to scenario.
struct LaunchFigures: Encodable {
    let scenarios: [any Encodable & Sendable]

    private enum Key: String, CodingKey { case scenarios }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        var list = container.nestedUnkeyedContainer(forKey: .scenarios)
        for scenario in scenarios { try list.encode(scenario) }
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
