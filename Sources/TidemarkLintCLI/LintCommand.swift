import ArgumentParser
import Foundation
import TidemarkLint

/// The command `tidemark-lint`, which reports the costs of an app's Firestore code before it runs.
@main
struct LintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark-lint",
        abstract: "Find what an app's Firestore code reads, and loses, without need.",
        discussion: """
            Reads Swift files on FirebaseFirestore or Tidemark, of one app or target together, and \
            changes nothing. Exits with 0 when nothing as severe as --fail-on was found, with 1 \
            when something was, and with 2 when it could not do its work.
            """)

    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json, sarif, github, xcode
    }

    enum Failing: String, CaseIterable, ExpressibleByArgument {
        case note, warning, error, never
    }

    @Argument(
        help: "Folders and Swift files of one app; all of the folder it runs in, unless told.")
    var paths: [String] = []

    @OptionGroup(title: "The app's size")
    var size: SizeOptions

    @OptionGroup(title: "What is read besides")
    var inputs: InputOptions

    @OptionGroup(title: "What is printed")
    var output: OutputOptions

    @Option(help: "The least severity that makes it exit with 1.")
    var failOn: Failing = .warning

    @Flag(help: "Show the difference that the safe fixes make; with --write, make it.")
    var fix = false

    @Flag(help: "Make the changes that --fix shows.")
    var write = false

    func validate() throws {
        if write, !fix { throw ValidationError("--write goes with --fix.") }
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
            print("\(report.findings.count) findings are written to \(file)")
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
            print("\(count) \(count == 1 ? "place" : "places") to change; --fix --write does it")
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
