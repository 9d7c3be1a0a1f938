import Foundation
import TidemarkConsole
import TidemarkHTTP
import TidemarkModel
import TidemarkRules
import TidemarkServer
import TidemarkWire
import UnixSignals

/// The ports of a server, which are open until a signal.
struct ServingProcess {
    let server: FirestoreServer
    /// The accounts; nil if the server has none.
    let accounts: AccountsServer?
    /// The files; nil if the server has none.
    let objects: ObjectsServer?
    let host: String
    let port: Int
    let controlPort: Int
    let accountsPort: Int
    let objectsPort: Int
    /// The port for the feed of judged requests.
    let requestsPort: Int
    let portsFile: String?
    /// The project whose tools find the server by a file; nil for none.
    let hubProject: String?
    /// True if the server opens the console in a browser.
    let opensConsole: Bool
    let access: AccessToken?
    /// The names and pages that may call over HTTP.
    let web: WebPolicy
    /// The encryption for browsers; nil for none.
    let tls: ServerTLS?
    let faults: [FaultRule]
    /// The network at the gates; nil for no gates.
    let network: NetworkProfile?
    let rules: ServingRules
    /// Records the deliveries to functions.
    let deliveries: RecordedDeliveries
    let shares: PortShares

    /// The event that ends a server.
    enum End: Sendable {
        /// SIGINT or SIGTERM. `ready` is called when all ports are open, and the port is printed.
        case signal(ready: @Sendable () -> Void)
        /// The server ends with this work. The work begins when all ports are open.
        case work(@Sendable (EmulatorHub.Ports) async throws -> Void)
    }

    /// Serves until `end`, or until a port fails.
    func run(until end: End) async throws {
        let faulty = FaultyTransport(server)
        try faulty.order(faults)
        // The recording is in front of the faults, so it includes calls that a fault has refused.
        let recorded = RecordedTransport(faulty) {
            Int64(Date().timeIntervalSince1970 * 1_000_000)
        }
        deliveries.attach(recorded)
        let gates = network.map { _ in makeGates() }
        // Behind a gate, only the gate connects to the server itself.
        let own = gates == nil ? host : "127.0.0.1"
        let endpoint = RulesEndpoint(
            server, watch: rules.watches.common, databases: rules.watches.databases,
            settings: rules.settings)
        let exports = ExportPages(
            WholeExport(server: server, accounts: accounts, objects: objects),
            project: hubProject)
        let http = FirestoreHTTP(
            recorded, access: callers, web: web,
            endpoints: [EmulatorEndpoints(server), TriggerEndpoint(server), exports, endpoint],
            tls: tls, hasLargeDocuments: server.hasDatabasesOfUnits)
        let grpc = GRPCServer(
            recorded, host: own, port: gates == nil ? port : 0,
            access: callers, maxConnections: shares.firestore,
            hasLargeDocuments: server.hasDatabasesOfUnits,
            plain: { $1 ? http.acceptEncrypted($0) : http.accept($0) })
        let hub = EmulatorHub(host: host, version: "tidemark")
        hub.set(ServerEvents(server))
        let board = FaultBoard(
            faulty, objects: objects, gates: gates, network: network ?? .healthy)
        let control = ControlServer(
            server, host: host, port: controlPort, faults: board, access: access, web: web,
            rules: endpoint,
            pages: PagesInOrder([
                hub, TriggerEndpoint(server), exports,
                Console(
                    server, traffic: recorded, faults: board, accounts: accounts,
                    objects: objects, rules: rules.watches.common,
                    databaseRules: rules.watches.databases),
            ]), maxConnections: shares.control)
        let feed = RequestsFeed(
            server, host: host, port: requestsPort, access: access, web: web,
            maxConnections: shares.requests)
        let (ports, opened) = AsyncStream.makeStream(of: Opened.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await grpc.run { opened.yield(.grpc($0)) } }
            group.addTask { await http.run() }
            group.addTask { try await control.run { opened.yield(.control($0)) } }
            group.addTask { try await feed.run { opened.yield(.requests($0)) } }
            if let accounts {
                group.addTask {
                    try await accounts.run(
                        host: host, port: accountsPort, web: web, maxConnections: shares.accounts
                    ) { opened.yield(.accounts($0)) }
                }
            }
            if let objects {
                group.addTask {
                    try await objects.run(
                        host: own, port: gates == nil ? objectsPort : 0, web: web,
                        maxConnections: shares.objects
                    ) { opened.yield(.objects($0)) }
                }
            }
            if case .signal = end {
                group.addTask {
                    for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return }
                }
            }
            for watch in rules.storage + rules.watches.all {
                group.addTask { await watch.run() }
            }
            for watch in rules.indexes { group.addTask { await watch.run() } }
            group.addTask {
                let ports = try await openedPorts(ports, gates: gates, board: board, hub: hub)
                switch end {
                case .signal(let ready):
                    announce(ports)
                    ready()
                case .work(let work): try await work(ports)
                }
            }
            // The task that prints the ports ends first. The next task that ends stops the server.
            if case .signal = end { try await group.next() }
            try await group.next()
            if let hubProject { EmulatorHub.removeLocator(of: hubProject) }
            await gates?.close()
            group.cancelAll()
        }
    }

    private func makeGates() -> NetworkGates {
        func gate(_ port: Int, share: Int) -> NetworkGate {
            NetworkGate(host: host, port: port, maxConnections: min(share, 1_000))
        }
        return NetworkGates(
            firestore: gate(port, share: shares.firestore),
            storage: objects.map { _ in gate(objectsPort, share: shares.objects) })
    }

    /// The gate for callers of Firestore. With signed tokens, their holders and callers with the
    /// server's token have access; otherwise only callers with the server's token, or everyone if
    /// the server has none.
    private var callers: (any CallerGate)? { Self.gate(accounts: accounts, access: access) }

    static func gate(
        accounts: AccountsServer?, access: AccessToken?
    ) -> (any CallerGate)? {
        guard let accounts, accounts.settings.mode == .secure else { return access }
        return AccountsGate(accounts)
    }

    private enum Opened {
        case grpc(Int), control(Int), accounts(Int), requests(Int), objects(Int)
    }

    /// Returns the ports when all are open, and writes them to the files that name them. A port
    /// behind a gate is the gate's.
    private func openedPorts(
        _ ports: AsyncStream<Opened>, gates: NetworkGates?, board: FaultBoard, hub: EmulatorHub
    ) async throws -> EmulatorHub.Ports {
        var grpc: Int?
        var control: Int?
        var accountsPort: Int?
        var requests: Int?
        var objectsPort: Int?
        // The ports behind the gates, for tools that must not be affected by the network.
        var direct: Int?
        var objectsDirect: Int?
        for await event in ports {
            switch event {
            case .grpc(let port):
                (grpc, direct) = try await open(gates?.firestore, to: port, board)
            case .control(let port): control = port
            case .accounts(let port): accountsPort = port
            case .requests(let port): requests = port
            case .objects(let port):
                (objectsPort, objectsDirect) = try await open(gates?.storage, to: port, board)
            }
            guard let grpc, let control, let requests, accounts == nil || accountsPort != nil,
                objects == nil || objectsPort != nil
            else { continue }
            if let portsFile {
                let ports: [(name: String, port: Int?)] = [
                    ("firestore", grpc), ("control", control), ("direct", direct),
                    ("accounts", accountsPort), ("requests", requests), ("storage", objectsPort),
                    ("storageDirect", objectsDirect),
                ]
                let text = ports.compactMap { name, port in port.map { "\"\(name)\": \($0)" } }
                    .joined(separator: ", ")
                try Data("{\(text)}\n".utf8)
                    .write(to: URL(fileURLWithPath: portsFile), options: .atomic)
            }
            let opened = EmulatorHub.Ports(
                hub: control, firestore: grpc, accounts: accountsPort, requests: requests,
                storage: objectsPort)
            hub.set(opened)
            if let hubProject { try hub.writeLocator(of: hubProject) }
            return opened
        }
        throw CancellationError()
    }

    /// Opens the gate in front of a port, if there is one.
    ///
    /// - Returns: The port for clients, and the port behind the gate; nil without a gate.
    private func open(
        _ gate: NetworkGate?, to port: Int, _ board: FaultBoard
    ) async throws -> (port: Int, direct: Int?) {
        guard let gate else { return (port, nil) }
        return (try await board.open(gate, to: port), port)
    }

    /// Prints that the server is ready.
    private func announce(_ ports: EmulatorHub.Ports) {
        if let tls {
            let text =
                "https://localhost:\(ports.firestore) uses the certificate \(tls.certificatePath)\n"
            FileHandle.standardError.write(Data(text.utf8))
        }
        if opensConsole { Self.openConsole(at: "http://\(host):\(ports.hub)") }
        FileHandle.standardOutput.write(Data("ready \(host):\(ports.firestore)\n".utf8))
        ProcessMemory.giveBackCode()
    }

    /// Opens the console in a browser, or prints the address if there is no browser.
    private static func openConsole(at address: String) {
        do { try Browser.open(address) } catch {
            FileHandle.standardError.write(Data("The console is at \(address)\n".utf8))
        }
    }
}

/// The sources of a server's rules and indexes.
struct ServingRules {
    let watches: RulesWatches
    /// The watched files of rules of objects.
    let storage: [RulesFileWatch]
    /// The watched files of indexes.
    let indexes: [IndexFileWatch]
    /// Returns the settings for rules that are set over HTTP.
    let settings: @Sendable (Ruleset) -> RulesSettings
}
