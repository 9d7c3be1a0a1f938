import ArgumentParser
import Foundation
import TidemarkHTTP
import TidemarkPhones
import TidemarkServer

/// The seven networks of journeys 1 on which an app is launched.
enum LaunchNetwork: String, CaseIterable, Sendable, ExpressibleByArgument {
    case healthy
    /// 400 ms round trip, 1.6 Mbit/s, and 2 % lost packets.
    case threeG = "3g"
    /// Every call of Firestore takes 18 s.
    case slow = "18s"
    case refused
    /// Packets vanish.
    case blackhole
    /// Names cannot be resolved.
    case offline
    case captive

    /// Returns the label of a phone on the network.
    func label(_ side: PhoneSide) -> String { "\(rawValue).\(side.rawValue)" }

    /// The label of a diagnosis on the network, which no phone has.
    var labelOfDoctor: String { "\(rawValue).doctor" }

    /// The server options that delay all calls on the slow network.
    static let serverOptions = (PhoneSide.allCases.map(Self.slow.label) + [slow.labelOfDoctor])
        .flatMap { ["--fault", "label=\($0),latency=18s"] }

    /// The network of the pictures' server. That server has one gate for all networks, because a
    /// picture's address is its name on the device.
    var pictures: NetworkProfile { self == .offline ? .refuse : profile }

    /// True if an answer arrives before a user gives up.
    var reachesServer: Bool { self == .healthy || self == .threeG }

    /// The approximate time to first content of the app as it was, in seconds.
    var secondsBefore: Double {
        switch self {
        case .healthy: 0.1
        case .threeG: 2
        case .refused, .offline, .captive: 0.5
        case .slow: 19
        case .blackhole: 25
        }
    }

    /// The number of steps, of 14, at which an app on Tidemark can be killed during a sign-up on
    /// the network. Without an answer of the server, the later steps are never reached.
    var reachableSteps: Int {
        switch self {
        case .healthy, .threeG: SignUpDevice.steps(of: .after)
        case .slow: 5
        case .refused, .offline, .captive: 6
        case .blackhole: 2
        }
    }

    /// The network at the gate.
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

/// The addresses of the two servers, for a device on one network.
struct LaunchPlace: Sendable {
    /// The host and the port, such as `127.0.0.1:8080`.
    let firestore: String
    let accounts: String
}

/// The gates in front of the two ports of a server, one for each network and port.
struct LaunchGates: Sendable {
    let places: [LaunchNetwork: LaunchPlace]
    /// The addresses without a network.
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
