import Foundation
import Synchronization
import TidemarkConsole
import TidemarkHTTP
import TidemarkModel
import TidemarkReads
import TidemarkServer
import UnixSignals

/// Runs a suite's command once, against a server of its own in memory.
struct SuiteRun {
    let command: [String]
    let project: String?
    let serve: ServeCommand

    struct Outcome {
        let ending: SuiteEnding
        let lines: [RunLine]
        /// Enterprise if a database of the suite's server is of this edition.
        let edition: DatabaseEdition
    }

    /// The edition of a file is not that of the suite's server.
    struct OtherEdition: Error {
        let edition: DatabaseEdition
    }

    /// - Parameter expected: The edition of the file that the run is compared with; nil if the run
    ///   is recorded.
    /// - Throws: ``OtherEdition`` before the command runs.
    func run(for expected: DatabaseEdition? = nil) async throws -> Outcome {
        let prepared = try await serve.prepare()
        let server = prepared.process.server
        let edition: DatabaseEdition = server.hasDatabasesOfUnits ? .enterprise : .standard
        if let expected, expected != edition {
            server.close()
            prepared.process.accounts?.close()
            throw OtherEdition(edition: edition)
        }
        server.keepReadTally(ReadTally.Words { $0.sentence })
        let ending = Mutex<SuiteEnding?>(nil)
        let served = await Result {
            try await prepared.process.run(
                until: .work { ports in
                    let end = try await play(ports)
                    ending.withLock { $0 = end }
                })
        }
        // The server performs what has reached it before it closes.
        server.close()
        prepared.process.accounts?.close()
        guard let ending = ending.withLock({ $0 }) else {
            try served.get()
            throw CancellationError()
        }
        return Outcome(
            ending: ending, lines: server.readLines().map(RunLine.init), edition: edition)
    }

    /// Runs the command, and passes signals on to it.
    private func play(_ ports: EmulatorHub.Ports) async throws -> SuiteEnding {
        let environment = SuiteEnvironment(
            host: serve.host, ports: ports, project: project,
            inherited: ProcessInfo.processInfo.environment)
        // Signals are caught before the command runs, so that none ends this process alone.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        let child: ChildCommand
        do throws(ChildCommand.NotStarted) {
            child = try ChildCommand(command, environment: environment.variables)
        } catch { return error.ending }
        return await withTaskGroup(of: SuiteEnding?.self) { group in
            group.addTask {
                for await signal in signals { child.pass(on: signal.rawValue) }
                return nil
            }
            group.addTask { await child.ended() }
            defer { group.cancelAll() }
            for await ending in group {
                if let ending { return ending }
            }
            return .exited(0)
        }
    }
}

/// The environment of a suite's command: the variables by which Firebase's clients and tools find
/// emulators, and the address of the control port.
struct SuiteEnvironment: Equatable {
    let variables: [String: String]

    /// - Parameters:
    ///   - project: The project; nil for the inherited one, or `demo`.
    ///   - inherited: The environment of this process.
    init(
        host: String, ports: EmulatorHub.Ports, project: String?, inherited: [String: String]
    ) {
        var variables = inherited
        let known = inherited["GCLOUD_PROJECT"] ?? inherited["GOOGLE_CLOUD_PROJECT"]
        let project = project ?? known ?? "demo"
        variables["GCLOUD_PROJECT"] = project
        variables["GOOGLE_CLOUD_PROJECT"] = project
        variables["FIRESTORE_EMULATOR_HOST"] = "\(host):\(ports.firestore)"
        variables["FIREBASE_FIRESTORE_EMULATOR_ADDRESS"] = "\(host):\(ports.firestore)"
        variables["FIREBASE_EMULATOR_HUB"] = "\(host):\(ports.hub)"
        variables["TIDEMARK_CONTROL_HOST"] = "\(host):\(ports.hub)"
        variables["FIREBASE_AUTH_EMULATOR_HOST"] = ports.accounts.map { "\(host):\($0)" }
        self.variables = variables
    }
}

extension RunLine {
    /// Creates a line of a server's tally.
    init(_ line: ReadTally.Line) {
        self.init(
            ReadKey(
                label: line.label, call: line.call.rawValue, target: line.target,
                query: line.query),
            reads: line.reads, units: line.units, calls: line.calls, resumed: line.resumed,
            limit: line.limit, example: line.example, indexes: line.indexes)
    }
}
