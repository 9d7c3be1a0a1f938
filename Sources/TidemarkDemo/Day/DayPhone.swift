import Foundation
import Synchronization
import TidemarkHTTP
import TidemarkPhones
import TidemarkServer

/// The servers of a day's app.
struct DayServers: Sendable {
    let server: ServerProcess
    let pictures: PictureServer
    /// The port of the pictures.
    let picturesPort: Int
}

/// A device with an app. Its connections to Firestore, to the accounts and to the pictures pass
/// through gates, which count bytes and bursts outside the app.
struct DayPhone: Sendable {
    let version: DayVersion
    private let folder: URL
    private let gates: [NetworkGate]
    /// The gates' ports: Firestore's, the accounts' and the pictures'.
    private let ports: [Int]
    private let counter: BurstCounter

    init(version: DayVersion, servers: DayServers, folder: URL) async throws {
        self.version = version
        self.folder = folder
        let counter = BurstCounter()
        self.counter = counter
        var (gates, ports): ([NetworkGate], [Int]) = ([], [])
        let server = servers.server
        for port in [server.directPort, server.accountsPort, servers.picturesPort] {
            let gate = NetworkGate(host: "127.0.0.1", port: 0) { counter.add($0) }
            ports.append(try await gate.open(to: port, .healthy))
            gates.append(gate)
        }
        (self.gates, self.ports) = (gates, ports)
    }

    /// Launches the app. Its bursts begin anew, as hours after the last launch.
    ///
    /// - Parameter ahead: The seconds that have passed by the server's clock.
    func launch(ahead: Int64 = 0) throws -> DayApp {
        counter.pause()
        let process = AppProcess(
            [
                "demo", "day-app", "--version", version.rawValue, "--port", "\(ports[0])",
                "--accounts-port", "\(ports[1])", "--pictures", "127.0.0.1:\(ports[2])",
                "--user", Membership.user, "--label", version.label, "--ahead", "\(ahead)",
                "--folder", folder.path,
            ], errors: .standardError)
        return DayApp(
            version: version, process: process, lines: try process.start(), counter: counter,
            start: counter.count)
    }

    func close() async { for gate in gates { await gate.close() } }
}

/// The bytes and bursts of a device, counted by its gate.
final class BurstCounter: Sendable {
    private let state = Mutex(BurstCount())
    private let start = ContinuousClock.now

    var count: BurstCount { state.withLock { $0 } }

    func add(_ bytes: Int) { state.withLock { $0.add(bytes, at: .now - start) } }

    func pause() { state.withLock { $0.pause() } }
}

/// A running app.
final class DayApp: Sendable {
    /// The longest time for which the demo waits for a message on the screen.
    private static let patience = Duration.seconds(60)

    let version: DayVersion
    private let process: AppProcess
    private let lines: AsyncStream<[String]>
    private let counter: BurstCounter
    /// The counts at the launch.
    private let start: BurstCount
    private let sum = Mutex(ThreadSum())

    init(
        version: DayVersion, process: AppProcess, lines: AsyncStream<[String]>,
        counter: BurstCounter,
        start: BurstCount
    ) {
        self.version = version
        self.process = process
        self.lines = lines
        self.counter = counter
        self.start = start
    }

    /// Returns when a launched app shows a message as the newest, or is ready if it shows none.
    ///
    /// - Throws: ``DayError`` if the app ends before, or shows something else for a minute.
    func isLaunched(with message: String) async throws {
        try await shows(version.showsMessages ? message : DayAppCommand.ready)
    }

    /// Returns when the app shows a message as the newest.
    ///
    /// - Throws: ``DayError`` if the app ends before, or shows something else for a minute.
    func shows(_ message: String, within patience: Duration = patience) async throws {
        do {
            try await TidemarkDemo.within(patience) { [lines, version] in
                for await words in lines where words == ["shown", message] { return }
                try Task.checkCancellation()
                throw DayError.ended(version, message: message)
            }
        } catch is TookTooLong {
            throw DayError.didNotShow(
                version, message: message, seconds: patience.components.seconds)
        }
    }

    /// Returns the use since the launch.
    ///
    /// - Throws: ``DayError/notMeasured`` if the app does not run, or not on Linux.
    func use() throws -> ProcessUse {
        guard let threads = ThreadSum.threads(of: process.identifier) else {
            throw DayError.notMeasured(version)
        }
        var use = sum.withLock { sum in
            sum.add(threads)
            return sum.use
        }
        let count = counter.count
        use.bursts = Double(count.bursts - start.bursts)
        use.bytes = Double(count.bytes - start.bytes)
        return use
    }

    func kill() { process.kill() }
}
