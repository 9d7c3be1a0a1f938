import ArgumentParser
import Foundation
import TidemarkDiagnosis
import TidemarkHTTP

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Find out why Firestore cannot be reached.",
        discussion: """
            Checks each step from this machine's network to a read, and stops at the first step \
            that fails: interfaces, DNS, connection, TLS and clock, HTTP/2, a read with the \
            token of TIDEMARK_TOKEN. Costs one read. Exits with 0 if every step works, else with \
            1.
            """)

    @Option(help: "HOST:PORT. (default: FIRESTORE_EMULATOR_HOST, or Cloud Firestore)")
    var host: String?

    @Flag(help: "Use TLS. Cloud Firestore always uses it.")
    var tls = false

    @Option(help: "The project.")
    var project = "demo"

    @Option(help: "The database of the project.")
    var database = "(default)"

    @Option(help: "Maximum seconds for each step.")
    var stepSeconds = 5.0

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if !(0.1...60).contains(stepSeconds) {
            throw ValidationError("--step-seconds must be 0.1 to 60.")
        }
    }

    func run() async throws {
        var doctor = Doctor(try target())
        doctor.stepTime = .milliseconds(Int(stepSeconds * 1_000))
        doctor.token = TokenVariable.value
        let report = try await doctor.diagnose(after: .zero)
        print(json ? try Self.json(report) : Self.table(report))
        if !report.verdict.isHealthy { throw ExitCode.failure }
    }

    /// Returns the server of the options or of the environment.
    ///
    /// - Parameter environment: The environment variables.
    /// - Throws: `ValidationError` with a sentence.
    func target(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> DiagnosisTarget {
        guard let text = host ?? environment.host("FIRESTORE_EMULATOR_HOST") else {
            return DiagnosisTarget(
                host: "firestore.googleapis.com", port: 443, usesTLS: true, project: project,
                database: database)
        }
        let colon = text.lastIndex(of: ":")
        let name = colon.map { String(text[..<$0]) } ?? text
        let usesTLS = tls || name.hasSuffix(".googleapis.com")
        let port = colon.map { Int(text[text.index(after: $0)...]) } ?? (usesTLS ? 443 : 8080)
        guard let port, (1...65_535).contains(port), !name.isEmpty else {
            throw ValidationError("\"\(text)\" is not HOST:PORT.")
        }
        return DiagnosisTarget(
            host: name.trimmingCharacters(in: CharacterSet(charactersIn: "[]")), port: port,
            usesTLS: usesTLS, project: project, database: database)
    }

    private static func table(_ report: DiagnosisReport) -> String {
        let rows = report.steps.map { step in
            let name = step.name.rawValue.padding(toLength: 11, withPad: " ", startingAt: 0)
            let time = String(format: "%8.1f ms", step.milliseconds)
            return "\(step.isOK ? "ok  " : "FAIL")  \(name)\(time)  \(step.detail)"
        }
        return (rows + ["", "\(report.verdict.rawValue): \(report.verdict.message)"])
            .joined(separator: "\n")
    }

    private static func json(_ report: DiagnosisReport) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let figures = Figures(
            host: report.target.host, port: report.target.port, tls: report.target.usesTLS,
            verdict: report.verdict.rawValue, message: report.verdict.message,
            isHealthy: report.verdict.isHealthy,
            clockAheadSeconds: report.evidence.clockAhead,
            steps: report.steps.map {
                Figures.Step(
                    name: $0.name.rawValue, ok: $0.isOK, milliseconds: $0.milliseconds,
                    detail: $0.detail)
            })
        return String(decoding: try encoder.encode(figures), as: UTF8.self)
    }

    private struct Figures: Encodable {
        struct Step: Encodable {
            let name: String
            let ok: Bool
            let milliseconds: Double
            let detail: String
        }

        let host: String
        let port: Int
        let tls: Bool
        let verdict, message: String
        let isHealthy: Bool
        let clockAheadSeconds: Int64?
        let steps: [Step]
    }
}
