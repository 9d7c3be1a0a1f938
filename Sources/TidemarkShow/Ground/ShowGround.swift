import ExampleKit
import Foundation
import Tidemark
import TidemarkConsole
import TidemarkHTTP
import TidemarkModel
import TidemarkPhones
import TidemarkRules
import TidemarkServer
import TidemarkWire

/// The environment of both phones: one server with accounts, files and a meter, and a network for
/// each phone.
final class ShowGround: Sendable {
    /// The network connections of a phone.
    private struct Ways: Sendable {
        let gates: [NetworkGate]
        let places: Places
    }

    /// The addresses `HOST:PORT` that a phone uses.
    struct Places: Sendable {
        let firestore, accounts, pictures, storage: String
    }

    let server: FirestoreServer
    private let faulty: FaultyTransport
    private let recorded: RecordedTransport
    private let accounts: AccountsServer
    private let pictures: PictureServer
    private let storage: ObjectsServer
    /// The address `HOST:PORT` that bypasses all simulated networks.
    var firestorePlace: String { "127.0.0.1:\(firestorePort)" }
    let firestorePort: Int
    let accountsPlace: String
    /// The address of Storage that bypasses all simulated networks.
    let storageAddress: String
    private let ways: [PhoneSide: Ways]
    private let serving: Task<Void, Never>

    /// Opens the server and the phones' networks, in memory and on loopback.
    init() async throws {
        server = try FirestoreServer(FirestoreServer.Configuration())
        let faulty = FaultyTransport(server)
        let recorded = RecordedTransport(faulty, capacity: 5_000) { Self.now() }
        var settings = AccountsSettings(.emulator, project: "show")
        settings.passwords = .quick
        let accounts = try await AccountsServer(
            settings, dataDirectory: nil, access: nil, providers: ProviderKeys())
        let storage = try ObjectsServer(dataDirectory: nil, project: "show", gate: nil)
        let grpc = GRPCServer(recorded, host: "127.0.0.1", port: 0, access: nil)
        let (opened, sink) = AsyncStream.makeStream(of: Opened.self)
        serving = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do { try await grpc.run { sink.yield(.firestore($0)) } } catch {
                        sink.finish()
                    }
                }
                group.addTask {
                    do {
                        try await accounts.run(host: "127.0.0.1", port: 0) {
                            sink.yield(.accounts($0))
                        }
                    } catch { sink.finish() }
                }
                group.addTask {
                    do {
                        try await storage.run(host: "127.0.0.1", port: 0) {
                            sink.yield(.storage($0))
                        }
                    } catch { sink.finish() }
                }
            }
        }
        var ports: (firestore: Int?, accounts: Int?, storage: Int?) = (nil, nil, nil)
        for await port in opened {
            switch port {
            case .firestore(let number): ports.firestore = number
            case .accounts(let number): ports.accounts = number
            case .storage(let number): ports.storage = number
            }
            if ports.firestore != nil, ports.accounts != nil, ports.storage != nil { break }
        }
        guard let firestorePort = ports.firestore, let accountsPort = ports.accounts,
            let storagePort = ports.storage
        else {
            throw OrderError("The show's server cannot listen on loopback.")
        }
        let pictures = try PictureServer.ofSmallPictures()
        let picturesPort = try await pictures.start()
        var ways: [PhoneSide: Ways] = [:]
        for side in PhoneSide.allCases {
            let targets = [firestorePort, accountsPort, picturesPort, storagePort]
            let gates = targets.map { _ in NetworkGate(host: "127.0.0.1", port: 0) }
            var places: [String] = []
            for (gate, port) in zip(gates, targets) {
                places.append("127.0.0.1:\(try await gate.open(to: port, .healthy))")
            }
            ways[side] = Ways(
                gates: gates,
                places: Places(
                    firestore: places[0], accounts: places[1], pictures: places[2],
                    storage: places[3]))
        }
        (self.faulty, self.recorded, self.accounts, self.ways) = (faulty, recorded, accounts, ways)
        (self.pictures, self.storage) = (pictures, storage)
        self.firestorePort = firestorePort
        accountsPlace = "127.0.0.1:\(accountsPort)"
        storageAddress = "http://127.0.0.1:\(storagePort)"
    }

    private enum Opened { case firestore(Int), accounts(Int), storage(Int) }

    /// Returns the addresses of a phone. Every side has addresses.
    func places(_ side: PhoneSide) -> Places { ways[side]!.places }

    /// Simulates a network for both phones.
    ///
    /// - Parameter labels: The labels of the phones. Calls with other labels are not affected.
    func play(_ network: Network, isAirplane: Bool, labels: [String]) async throws {
        let profile =
            isAirplane
            ? NetworkProfile.refuse : NetworkProfile(rawValue: network.rawValue) ?? .healthy
        // Sets the rules first, because a call that the gate resets starts again under them.
        try faulty.order(
            labels.flatMap { label in
                profile.rules.map { rule in
                    var own = rule
                    own.label = label
                    return own
                }
            })
        for gate in ways.values.flatMap(\.gates) { try await gate.insist(on: profile) }
    }

    /// Activates an app's rules for all phones. A caller that bypasses the networks is an
    /// administrator.
    func obey(_ rules: String) throws(InvalidRules) {
        server.setRules(RulesSettings(try Ruleset(rules)))
    }

    /// - Parameter seconds: The time by which the clock is ahead of the machine's clock.
    func setClock(ahead seconds: Double) throws {
        try server.setClock(Timestamp(microseconds: Self.now() + Int64(seconds * 1_000_000)))
    }

    func reads(_ label: String) -> Int {
        server.meter().first { $0.label == label }?.reads ?? 0
    }

    /// Returns the newest 1,000 calls of a phone since a time in microseconds, oldest first.
    func calls(_ label: String, since began: Int64) -> [PhoneState.Call] {
        let entries = recorded.snapshot.newest(1_000) {
            $0.label == label && $0.began >= began
        }
        return entries.reversed().map { entry in
            PhoneState.Call(
                id: entry.id, method: entry.method, asked: entry.asked,
                start: Double(entry.began - began) / 1_000_000,
                seconds: entry.duration.map { Double($0) / 1_000_000 }, reads: entry.reads,
                bytes: entry.bytes, outcome: entry.outcome)
        }
    }

    /// Returns the microseconds since 1970.
    static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }

    func close() async {
        for gate in ways.values.flatMap(\.gates) { await gate.close() }
        await pictures.stop()
        serving.cancel()
        await serving.value
        server.close()
        accounts.close()
        storage.close()
    }
}
