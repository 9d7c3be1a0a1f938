import ArgumentParser
import Foundation
import TidemarkReads

struct ReadsCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Run a test suite, and fail if a line of its billed reads grew.",
        discussion: """
            Prints each line that grew, with its largest call, the index that serves it, and \
            advice, and each line that shrank. On GitHub, adds the report to the run's summary. \
            \(ReadsCommand.exitCodes)
            """)

    @OptionGroup var suite: SuiteOptions

    @Option(
        help: ArgumentHelp("Also write the report to this file, as Markdown.", valueName: "path"))
    var summary: String?

    @Option(help: ArgumentHelp("Also write the report to this file, as JSON.", valueName: "path"))
    var json: String?

    func run() async throws {
        guard let file = try suite.readFile() else {
            throw SuiteOptions.refusal(
                """
                There is no file \(suite.file). Write it first, with 'tidemark reads record' and \
                the same command.
                """)
        }
        let comparison = ReadsComparison(file, try await suite.run(comparedWith: file).lines)
        let report = ReadsReport(comparison, file: suite.file)
        FileHandle.standardOutput.write(Data(report.text.utf8))
        try write(report)
        if comparison.verdict == .grew { throw ExitCode(SuiteFault.grew) }
    }

    private func write(_ report: ReadsReport) throws {
        let markdown = Data(report.markdown.utf8)
        if let summary { try Self.write(markdown, to: summary) }
        if let json { try Self.write(report.json, to: json) }
        // GitHub collects the summaries of all steps in one file.
        let shared = ProcessInfo.processInfo.environment["GITHUB_STEP_SUMMARY"] ?? ""
        if !shared.isEmpty { try Self.append(markdown, to: shared) }
    }

    private static func write(_ data: Data, to path: String) throws {
        do { try data.write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
            throw SuiteOptions.refusal("\(path) cannot be written: \(error)")
        }
    }

    private static func append(_ data: Data, to path: String) throws {
        if !FileManager.default.fileExists(atPath: path) { return try write(data, to: path) }
        do {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            defer { try? file.close() }
            try file.seekToEnd()
            try file.write(contentsOf: data)
        } catch {
            throw SuiteOptions.refusal("\(path) cannot be written: \(error)")
        }
    }
}
