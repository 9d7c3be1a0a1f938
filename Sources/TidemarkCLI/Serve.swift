import ArgumentParser
import Dispatch
import Foundation
import TidemarkHTTP
import TidemarkServer
import TidemarkStore
import TidemarkWire

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve Firestore's protocol from one SQLite file.",
        discussion: """
            Prints one line, "ready HOST:PORT", on standard output once it takes calls. Ends on SIGINT \
            and SIGTERM, and then prints what was read, by caller, on standard error. Clients find it \
            by FIRESTORE_EMULATOR_HOST.
            """)

    @Option(help: "The address to listen on. Only loopback is safe: nothing here asks who calls.")
    var host = "127.0.0.1"

    @Option(help: "The port for gRPC; 0 picks a free one.")
    var port = 8080

    @Option(
        help: "The port for the control endpoint; 0 picks a free one, as --port 0 does here too.")
    var controlPort: Int?

    @Option(help: "The folder of the database file. It is made when it is missing.")
    var data: String?

    @Flag(help: "Keep everything in memory, and forget it at the end.")
    var memory = false

    @Option(
        help: """
            For how many seconds versions are kept: for reads at a past time and for resumes that tell \
            every removal. 0 to 604800, a week.
            """)
    var history = 3_600

    @Option(
        help: """
            For how many seconds a call waits for the locks of other transactions before it is \
            aborted. 0.01 to 3600.
            """)
    var lockTimeout = 15.0

    @Option(help: "A file to write the ports to, as JSON, once they are open.")
    var portsFile: String?

    func validate() throws {
        if memory, data != nil { throw ValidationError("--memory and --data exclude each other.") }
        for (name, port) in [("--port", port), ("--control-port", controlPort ?? 0)]
        where !(0...65_535).contains(port) {
            throw ValidationError("\(name) must be between 0 and 65535.")
        }
        if !(0.01...3_600).contains(lockTimeout) {
            throw ValidationError("--lock-timeout must be between 0.01 and 3600 seconds.")
        }
        if !(0...604_800).contains(history) {
            throw ValidationError("--history must be between 0 and 604800 seconds.")
        }
    }

    func run() async throws {
        let directory = memory ? nil : data ?? ".tidemark"
        let server: FirestoreServer
        do throws(StoreError) {
            server = try FirestoreServer(
                .init(
                    dataDirectory: directory, history: .seconds(history),
                    lockTimeout: .seconds(lockTimeout)))
        } catch {
            throw CleanExit.message("tidemark serve: \(error.message)").asFailure
        }
        let process = ServingProcess(
            server: server, host: host, port: port,
            controlPort: controlPort ?? (port == 0 ? 0 : 4_000), portsFile: portsFile)
        do { try await process.run() } catch is CancellationError {}
        server.close()
        report(server.meter())
    }

    private func report(_ rows: [MeterRow]) {
        for row in rows {
            let counts = "\(row.reads) reads, \(row.writes) writes, \(row.deletes) deletes"
            FileHandle.standardError.write(Data("\(row.label): \(counts)\n".utf8))
        }
    }
}

extension CleanExit {
    /// A sentence on standard error and an exit code that says failure.
    var asFailure: any Error {
        FileHandle.standardError.write(Data("\(self)\n".utf8))
        return ExitCode.failure
    }
}

/// The sockets of a server, until a signal.
struct ServingProcess {
    let server: FirestoreServer
    let host: String
    let port: Int
    let controlPort: Int
    let portsFile: String?

    func run() async throws {
        let grpc = GRPCServer(server, host: host, port: port)
        let control = ControlServer(server, host: host, port: controlPort)
        let (ports, opened) = AsyncStream.makeStream(of: Opened.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await grpc.run { opened.yield(.grpc($0)) } }
            group.addTask { try await control.run { opened.yield(.control($0)) } }
            group.addTask { await Self.signal() }
            group.addTask { try await announce(ports) }
            // Announcing ends by itself; the first of the others to end, ends all.
            try await group.next()
            try await group.next()
            group.cancelAll()
        }
    }

    private enum Opened { case grpc(Int), control(Int) }

    private func announce(_ ports: AsyncStream<Opened>) async throws {
        var grpc: Int?
        var control: Int?
        for await opened in ports {
            switch opened {
            case .grpc(let port): grpc = port
            case .control(let port): control = port
            }
            guard let grpc, let control else { continue }
            if let portsFile {
                let text = "{\"firestore\": \(grpc), \"control\": \(control)}\n"
                try Data(text.utf8).write(to: URL(fileURLWithPath: portsFile), options: .atomic)
            }
            FileHandle.standardOutput.write(Data("ready \(host):\(grpc)\n".utf8))
            return
        }
    }

    /// Returns at the first SIGINT or SIGTERM.
    private static func signal() async {
        let (signals, sink) = AsyncStream.makeStream(of: Void.self)
        let sources = [SIGINT, SIGTERM].map { number in
            Foundation.signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number)
            source.setEventHandler { sink.yield() }
            source.resume()
            return source
        }
        for await _ in signals { break }
        for source in sources { source.cancel() }
    }
}
