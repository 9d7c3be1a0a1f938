import Foundation
import Synchronization
import TidemarkHTTP
import TidemarkServer

/// A device with an app. Its connections to Firestore pass through a gate, which counts bytes and
/// bursts outside the app.
struct DayPhone: Sendable {
    let side: Side
    private let server: ServerProcess
    private let folder: URL
    private let gate: NetworkGate
    private let port: Int
    private let counter: BurstCounter

    init(side: Side, server: ServerProcess, folder: URL) async throws {
        self.side = side
        self.server = server
        self.folder = folder
        let counter = BurstCounter()
        gate = NetworkGate(host: "127.0.0.1", port: 0) { counter.add($0) }
        port = try await gate.open(to: server.directPort, .healthy)
        self.counter = counter
    }

    /// Launches the app. Its bursts begin anew, as hours after the last launch.
    func launch() throws -> DayApp {
        counter.pause()
        let process = AppProcess(
            [
                "demo", "day-app", "--side", side.rawValue, "--port", "\(port)",
                "--accounts-port", "\(server.accountsPort)", "--user", Membership.user,
                "--label", "day-\(side.rawValue)", "--folder", folder.path,
            ], errors: .standardError)
        return DayApp(
            side: side, process: process, lines: try process.start(), counter: counter,
            start: counter.count)
    }

    func close() async { await gate.close() }
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

    let side: Side
    private let process: AppProcess
    private let lines: AsyncStream<[String]>
    private let counter: BurstCounter
    /// The counts at the launch.
    private let start: BurstCount
    private let sum = Mutex(ThreadSum())

    init(
        side: Side, process: AppProcess, lines: AsyncStream<[String]>, counter: BurstCounter,
        start: BurstCount
    ) {
        self.side = side
        self.process = process
        self.lines = lines
        self.counter = counter
        self.start = start
    }

    /// Returns when the app shows a message as the newest.
    ///
    /// - Throws: ``DayError`` if the app ends before, or shows something else for a minute.
    func shows(_ message: String, within patience: Duration = patience) async throws {
        do {
            try await TidemarkDemo.within(patience) { [lines, side] in
                for await words in lines where words == ["shown", message] { return }
                try Task.checkCancellation()
                throw DayError.ended(side, message: message)
            }
        } catch is TookTooLong {
            throw DayError.didNotShow(
                side, message: message, seconds: patience.components.seconds)
        }
    }

    /// Returns the use since the launch.
    ///
    /// - Throws: ``DayError/notMeasured`` if the app does not run, or not on Linux.
    func use() throws -> ProcessUse {
        guard let threads = ThreadSum.threads(of: process.identifier) else {
            throw DayError.notMeasured(side)
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
