import Foundation
import Testing
import TestSupport

/// Runs `Scripts/swift-tests` with made-up tests.
@Suite(.ownThread, .timeLimit(.minutes(2))) struct `The script that runs the tests` {
    /// The maximum number of lines that the script may print in addition to the results.
    private static let most = 200

    /// - Parameters:
    ///   - lines: The output of the tests, as a command of the shell.
    ///   - status: The exit status of the tests.
    /// - Returns: The output of the script, and its exit status.
    private func run(_ lines: String, status: Int32 = 0) throws -> ScriptRun {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-tests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        for name in ["Scripts", ".build"] {
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent(name), withIntermediateDirectories: true)
        }
        let script = folder.appendingPathComponent("Scripts/swift-tests")
        try FileManager.default.copyItem(
            at: Repository.root.appendingPathComponent("Scripts/swift-tests"), to: script)
        // The histories print nothing. The compiler prints the folder of the tests: here, its own
        // folder.
        let tests = folder.appendingPathComponent("tidemarkPackageTests.xctest")
        let text = """
            #!/bin/bash
            case "$*" in
                *--show-bin-path*) echo '\(folder.path)'; exit ;;
                *--skip-build*--skip*|--testing-library*--skip*) \(lines); exit \(status) ;;
            esac

            """
        return try ScriptRun(script, compiler: (tests, text))
    }

    private func logging(_ count: Int) -> String {
        #"for n in $(seq \#(count)); do echo "07:0$((n % 9)) info: write $n failed"; done"#
    }

    private let results = #"printf '\033[92m✔\033[0m Test run with 7 tests passed.\n'"#

    @Test func `passes where results are most of what is printed`() throws {
        let many =
            "for n in $(seq 900); do printf '\\033[90m◇\\033[0m Test %d started.\\n' $n; done"
        let result = try run("\(many); \(logging(Self.most)); \(results)")
        #expect(result.status == 0 && result.text.contains("7 tests passed"))
        #expect(!result.text.contains("are no results"))
    }

    @Test func `fails for a log, and names its most frequent line`() throws {
        let result = try run("\(logging(Self.most + 1)); echo once; \(results)")
        #expect(result.status == 1)
        #expect(result.text.contains("The tests print 202 lines that are no results"))
        let last = result.text.split(separator: "\n").last ?? ""
        #expect(last.hasSuffix("201 #:# info: write # failed"), "\(last)")
    }

    @Test func `ends as the tests do, however much one of them says that failed`() throws {
        let failure = #"printf '✘ Test "a" recorded an issue.\n'"#
        let result = try run("\(logging(Self.most * 2)); \(failure)", status: 1)
        #expect(result.status == 1 && !result.text.contains("are no results"))
        let last = result.text.split(separator: "\n").last
        #expect(last == #"✘ Test "a" recorded an issue."#)
    }
}
