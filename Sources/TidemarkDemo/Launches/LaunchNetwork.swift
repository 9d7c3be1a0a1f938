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

    /// Some seconds that a launch of the app as it was takes to its first content.
    var secondsBefore: Double {
        switch self {
        case .healthy: 0.1
        case .threeG: 2
        case .refused, .offline, .captive: 0.5
        case .slow: 19
        case .blackhole: 25
        }
    }

    /// At how many of its 14 steps an app on Tidemark can be killed while somebody signs up there: without an
    /// answer of the server the later ones are never reached.
    var reachableSteps: Int {
        switch self {
        case .healthy, .threeG: SignUpDevice.steps(of: .after)
        case .slow: 5
        case .refused, .offline, .captive: 6
        case .blackhole: 2
        }
    }

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
