import ArgumentParser
import Foundation

/// Runs the suites it is given, or all, each beside its yardstick in the same run.
@main struct BenchmarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Benchmarks",
        abstract: "Speed, as ratios to raw SQLite and to an empty gRPC call.")

    enum Suite: String, CaseIterable, ExpressibleByArgument { case store, server, client }

    @Argument(help: "The suites to run, of store, server and client. All of them by default.")
    var suites: [Suite] = []

    @Option(help: "How many documents the large collections have.")
    var count = 100_000

    @Option(help: "The `tidemark` program to measure. By default, the one beside this program.")
    var tidemark: String?

    @Option(help: "A file to write the figures to, a line of JSON each.")
    var json: String?

    /// What the server suite starts as its yardstick.
    @Flag(help: .hidden) var serveEmptyCalls = false

    func validate() throws {
        guard count >= 1_000 else { throw ValidationError("--count must be at least 1000.") }
    }

    func run() async throws {
        if serveEmptyCalls { return try await EmptyServer.run() }
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let report = Report()
        for suite in suites.isEmpty ? Suite.allCases : suites {
            switch suite {
            case .store: try StoreSuite(count: count, folder: folder, report: report).run()
            case .server:
                let program = tidemark.map { URL(filePath: $0) } ?? ServerChild.besideThisProgram
                try await ServerSuite(
                    count: count, folder: folder, program: program, report: report
                ).run()
            case .client: try await ClientSuite(count: count, folder: folder, report: report).run()
            }
        }
        if let json { try report.lines().write(toFile: json, atomically: true, encoding: .utf8) }
    }
}
