import ArgumentParser
import Foundation
import TidemarkLint

/// The command `tidemark-lint`, which reports the costs of an app's Firestore code before it runs.
@main
struct LintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark-lint",
        abstract: "Find needless reads and lost data in an app's Firestore code.",
        discussion: """
            Reads the Swift files of one app or target that uses FirebaseFirestore or Tidemark, \
            and changes nothing without --write. Exits with 0 if there is no finding as severe \
            as --fail-on, with 1 if there is one, and with 2 if the files could not be checked.
            """,
        version: Linter.version)

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json, sarif, github, xcode
    }

    enum Failing: String, CaseIterable, ExpressibleByArgument {
        case note, warning, error, never
    }

    @Argument(
        help: "Folders and Swift files of one app. (default: the current folder)")
    var paths: [String] = []

    @OptionGroup(title: "The app's size")
    var size: SizeOptions

    @OptionGroup(title: "Further input")
    var inputs: InputOptions

    @OptionGroup(title: "Output")
    var output: OutputOptions

    @Option(help: "The lowest severity that makes the command exit with 1.")
    var failOn: Failing = .warning

    @Flag(help: "Show the changes of the safe fixes; with --write, make them.")
    var fix = false

    @Flag(help: "Make the changes that --fix shows.")
    var write = false

    func validate() throws {
        if write, !fix { throw ValidationError("--write needs --fix.") }
    }

    func run() throws {
        let run = try failing { () throws(LintFailure) in
            try LintRun(paths: paths, size: size, inputs: inputs)
        }
        var report = run.report
        if let file = output.writeBaseline {
            try failing { () throws(LintFailure) in
                try Files.write(Baseline(report).json, to: file)
            }
            print("\(report.findings.count) findings written to \(file)")
            return
        }
        if let baseline = run.baseline { report = baseline.applied(to: report) }
        if fix {
            try mend(report, run)
            return
        }
        if let file = output.html {
            try failing { () throws(LintFailure) in
                try Files.write(Data(PageReport(report).html.utf8), to: file)
            }
        }
        if let file = output.stamp {
            try failing { () throws(LintFailure) in try Files.write(Data(), to: file) }
        }
        show(report, run)
        let severe = report.findings.contains { finding in
            Severity(rawValue: failOn.rawValue).map { finding.severity >= $0 } ?? false
        }
        if severe { throw ExitCode(1) }
    }

    private func show(_ report: Report, _ run: LintRun) {
        switch output.format {
        case .text:
            let text = TextReport(report, texts: run.texts)
            print(text.text, terminator: "")
            if output.showUntold { print(text.untold, terminator: "") }
        case .json: print(String(decoding: report.json, as: UTF8.self))
        case .sarif: print(String(decoding: report.sarif, as: UTF8.self))
        case .github: print(LineReport(report).github, terminator: "")
        case .xcode: print(LineReport(report, in: run.root).xcode, terminator: "")
        }
    }

    private func mend(_ report: Report, _ run: LintRun) throws {
        let fixes = Fixes(report, texts: run.texts)
        print(fixes.difference, terminator: "")
        let count = fixes.changes.reduce(0) { $0 + $1.count }
        guard write else {
            print(
                "\(count) \(count == 1 ? "place" : "places") to change; --fix --write changes them")
            return
        }
        try failing { () throws(LintFailure) in
            for change in fixes.changes {
                try Files.write(Data(change.after.utf8), to: change.path)
            }
        }
        print("changed \(count) places; files: \(fixes.changes.count)")
    }

    /// Runs a function. An error ends the command with code 2 and a single line.
    private func failing<T>(_ body: () throws(LintFailure) -> T) throws -> T {
        do throws(LintFailure) { return try body() } catch {
            FileHandle.standardError.write(Data("tidemark-lint: \(error.message)\n".utf8))
            throw ExitCode(2)
        }
    }
}
