import ArgumentParser
import Foundation

extension ClientPart: ExpressibleByArgument {}
extension CallerPart: ExpressibleByArgument {}
extension RepeatedStep: ExpressibleByArgument {}

/// Runs the given suites, by default a few, and measures each beside its yardstick in the same run.
@main struct BenchmarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Benchmarks",
        abstract: "Speed, as ratios to raw SQLite and to an empty gRPC call.",
        discussion: """
            The suite "bars" holds the server against the thresholds in Benchmarks/Bars/Bars.swift, \
            and "client" the client against those in Benchmarks/Client/ClientFigures.swift, beside \
            the figures of Google's own; "caller" what an app waits for at the public API against \
            those in Benchmarks/Caller/CallerFigures.swift; "encryption" what "client" measures, with an \
            encrypted cache beside one that is not; "app" holds feeds, pages, retries and single \
            flight against those in Benchmarks/App/AppFigures.swift; "steps" says how long the client's \
            engine is held at a time, by whatever is asked of 11,000 to a million documents; "takeover" \
            what the first open after an update from FirebaseFirestore costs; "healthkit" how \
            HealthKit's samples come into the store (Benchmarks/Health/HealthKitFigures.swift); \
            "pipelines" figures and pages of pipelines on the device; "files" an upload through the \
            outbox of files and the opening of its queue (Benchmarks/Files/FileFigures.swift). All fail \
            when a bar is missed, or a step or its yardstick was not measured, and need a quiet \
            machine.
            """)

    enum Suite: String, CaseIterable, ExpressibleByArgument {
        case store, server, client, encryption, caller, codable, app, bars, steps, takeover,
            healthkit, pipelines, files

        /// The names that `--only` can select by their beginning.
        var parts: [String] {
            switch self {
            case .store, .server, .codable, .steps, .healthkit, .files: []
            case .client, .encryption: ClientPart.allCases.map(\.rawValue)
            case .caller: CallerStep.allCases.map(\.rawValue)
            case .app: AppSuite.bars.map(\.name)
            case .bars: BarSuite.bars.map(\.name)
            case .takeover: TakeOverSuite.bars.map(\.name)
            case .pipelines: PipelineSuite.bars.map(\.name)
            }
        }
    }

    @Argument(
        help: """
            The suites to run, of store, server, client, encryption, caller, codable, app, bars, \
            steps, takeover, healthkit, pipelines and files. By default, store, server and codable.
            """)
    var suites: [Suite] = []

    @Option(
        help: """
            How many documents the large collections have: 100000, and 1000000 in the largest of \
            "caller"; and how many samples the scripted HealthKit has: 525600.
            """)
    var count: Int?

    @Option(help: "The size of each document's text in the suite takeover, in bytes.")
    var documentBytes = 150

    @Option(help: "How many documents and listeners the largest case of the bars has.")
    var scale = 1_000_000

    @Option(help: "Minutes of mixed load at the end of the bars, to see whether memory stays flat.")
    var soak = 10.0

    @Option(
        help: """
            The bars to measure, by the beginning of their names; or the parts of the client's \
            workload. All by default.
            """)
    var only: [String] = []

    @Option(help: "The `tidemark` program to measure. By default, the one beside this program.")
    var tidemark: String?

    @Option(help: "A file to write the figures to, a line of JSON each.")
    var json: String?

    @Option(
        help: """
            A step of the client's workload to repeat for five seconds in this one process, for a \
            profiler, in place of any suite.
            """)
    var repeated: RepeatedStep?

    /// Runs the yardstick, which the server suite starts as a process.
    @Flag(help: .hidden) var serveEmptyCalls = false

    /// The part of the client's workload that this process runs for its parent.
    @Option(help: .hidden) var clientPart: ClientPart?
    @Option(help: .hidden) var callerPart: CallerPart?
    @Option(help: .hidden) var clientFolder: String?
    /// The device on which this process is a launched app, and the time of the launch.
    @Option(help: .hidden) var launchFolder: String?
    @Option(help: .hidden) var launchedAt: UInt64 = 0
    @Flag(help: .hidden) var clientRaw = false
    @Flag(help: .hidden) var clientEncrypted = false
    /// The store of FirebaseFirestore that this process takes over, completely or in part.
    @Option(help: .hidden) var store: String?
    @Flag(help: .hidden) var whole = false

    func validate() throws {
        guard count ?? 1_000 >= 1_000 else {
            throw ValidationError("--count must be at least 1000.")
        }
        // A larger first screen is read in parts, so there is no single time to measure.
        guard (1...80_000).contains(documentBytes) else {
            throw ValidationError("--document-bytes must be 1 to 80000.")
        }
        guard scale >= 2_000 else { throw ValidationError("--scale must be at least 2000.") }
        guard soak >= 0 else { throw ValidationError("--soak must not be negative.") }
        let names = measured.flatMap(\.parts)
        for name in only where !names.contains(where: { $0.hasPrefix(name) }) {
            let list =
                names.isEmpty ? "These suites have no parts." : names.joined(separator: "\n  ")
            throw ValidationError("--only \(name): nothing is called so. There are:\n  \(list)")
        }
    }

    private var measured: [Suite] { suites.isEmpty ? [.store, .server, .codable] : suites }

    func run() async throws {
        let begin = LaunchedApp.now
        if let launchFolder {
            let folder = URL(filePath: launchFolder)
            return try await LaunchedApp.run(folder, since: launchedAt, begin: begin)
        }
        if serveEmptyCalls { return try await EmptyServer.run() }
        let callers = count ?? 1_000_000
        let cached = count ?? 1_000_000
        let samples = count ?? HealthKitSuite.decade
        let count = count ?? 100_000
        if let callerPart, let clientFolder {
            return try await callerPart.run(
                count: count, folder: URL(filePath: clientFolder), raw: clientRaw, only: only)
        }
        if let clientPart, let clientFolder {
            return try ClientSuite.run(
                clientPart, raw: clientRaw, isEncrypted: clientEncrypted, count: count,
                folder: clientFolder)
        }
        if let store, let clientFolder {
            return try await TakeOverSuite.open(
                URL(filePath: store), URL(filePath: clientFolder), isWhole: whole)
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        if let repeated {
            let steps = EngineSteps(workload: Workload(count: count), folder: folder)
            return try ClientEngine.$isEncrypted.withValue(clientEncrypted) {
                print(repeated.rawValue, try steps.repeating(repeated))
            }
        }
        let report = Report()
        let program = tidemark.map { URL(filePath: $0) } ?? ServerChild.besideThisProgram
        var allHold = true
        for suite in measured {
            switch suite {
            case .store: try StoreSuite(count: count, folder: folder, report: report).run()
            case .server:
                try await ServerSuite(
                    count: count, folder: folder, program: program, report: report
                ).run()
            case .client, .encryption:
                let client = ClientSuite(
                    comparison: suite == .client ? .client : .encryption, count: count,
                    folder: folder, only: only, report: report)
                allHold = try client.run() && allHold
            case .caller:
                let caller = CallerSuite(
                    count: callers, folder: folder, only: only, report: report)
                allHold = try caller.run() && allHold
            case .steps:
                let steps = StepSuite(scale: scale, folder: folder, report: report)
                allHold = try steps.run() && allHold
            case .codable: try await CodableSuite(report: report).run()
            case .app:
                let app = AppSuite(count: count, folder: folder, only: only, report: report)
                allHold = try await app.run() && allHold
            case .takeover:
                let takeOver = TakeOverSuite(
                    count: count, documentBytes: documentBytes, folder: folder, only: only,
                    report: report)
                allHold = try takeOver.run() && allHold
            case .healthkit:
                let kit = HealthKitSuite(count: samples, folder: folder, report: report)
                allHold = try await kit.run() && allHold
            case .pipelines:
                let pipelines = PipelineSuite(
                    count: cached, folder: folder, only: only, report: report)
                allHold = try await pipelines.run() && allHold
            case .files:
                allHold = try await FileSuite(folder: folder, report: report).run() && allHold
            case .bars:
                let bars = BarSuite(
                    count: count, scale: scale, soak: soak, only: only, folder: folder,
                    program: program, report: report)
                allHold = try await bars.run() && allHold
            }
        }
        if let json { try report.lines().write(toFile: json, atomically: true, encoding: .utf8) }
        if !allHold || !report.allRatiosHold { throw ExitCode.failure }
    }
}
