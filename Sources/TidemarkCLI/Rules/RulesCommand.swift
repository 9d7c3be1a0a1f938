import ArgumentParser
import Foundation
import TidemarkRules
import TidemarkServer

/// Checks, tests and explains security rules. Only `explain` can ask a server.
struct RulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules", abstract: "Check, test and explain security rules.",
        subcommands: [CheckCommand.self, TestCommand.self, ExplainCommand.self])

    struct CheckCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check a rules file.",
            discussion: """
                Reports errors, which production refuses, and warnings, which are probably \
                mistakes: rules without effect, conditions that are always true, list rules that \
                no query can satisfy, unused functions. Exits with 1 if there are errors.
                """)

        @Argument(help: "The firestore.rules file.")
        var file = "firestore.rules"

        @Flag(help: "Also exit with 1 if there are warnings.")
        var strict = false

        func run() throws {
            let issues: [RulesIssue]
            let text = try RulesFiles.read(file, command: "check")
            do throws(InvalidRules) { issues = try Ruleset(text).advice } catch {
                issues = error.issues
            }
            for issue in issues {
                let place = "\(file):\(issue.position)"
                print("\(place): \(issue.severity.rawValue): \(issue.message)")
            }
            let errors = issues.count { $0.severity == .error }
            if issues.isEmpty { print("\(file): no problems found.") }
            if errors > 0 || strict && !issues.isEmpty { throw ExitCode.failure }
        }
    }

    struct TestCommand: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test", abstract: "Run the test cases of a file.",
            discussion: """
                The file contains documents and cases: who requests what, and if the rules \
                should allow it. Documentation/SecurityRules.md describes the format. Prints \
                each unexpected result with the value of each expression, and then exits with 1.
                """)

        @Argument(help: "The file of cases, as JSON.")
        var cases: String

        @Option(help: "The firestore.rules file. (default: the file that the cases name)")
        var rules: String?

        @Flag(help: "Also list the rules that no case has tested.")
        var coverage = false

        func run() throws {
            let file = try RulesFiles.cases(cases, command: "test")
            let ruleset = try RulesFiles.rules(rules, beside: cases, file, command: "test")
            let (outcomes, covered) = file.run(ruleset)
            for outcome in outcomes where !outcome.isAsExpected {
                print("FAILED \(outcome.test.title): \(outcome.isAllowed ? "allowed" : "denied")")
                if !outcome.reason.isEmpty { print("  \(outcome.reason)") }
                for line in outcome.trace { print("    \(line)") }
            }
            let failed = outcomes.count { !$0.isAsExpected }
            print("\(outcomes.count) cases, \(failed) not as expected.")
            let untested = covered.untested
            if coverage {
                for issue in untested { print("untested: \(issue)") }
            } else if !untested.isEmpty {
                print("\(untested.count) rules or branches were not tested; --coverage lists them.")
            }
            if failed > 0 { throw ExitCode.failure }
        }
    }
}

/// The files that the commands read.
enum RulesFiles {
    static func read(_ path: String, command: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path),
            let text = String(validating: data, as: UTF8.self)
        else { throw failure("\(path) cannot be read.", command) }
        return text
    }

    static func cases(_ path: String, command: String) throws -> RulesCaseFile {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw failure("There is no file \(path).", command)
        }
        do throws(RulesCaseError) { return try RulesCaseFile(data) } catch {
            throw failure("\(path): \(error.message)", command)
        }
    }

    /// - Parameters:
    ///   - path: The option's value; nil for the file that the file of cases names, relative to its
    ///     folder.
    static func rules(
        _ path: String?, beside cases: String, _ file: RulesCaseFile, command: String
    ) throws -> Ruleset {
        let folder = URL(fileURLWithPath: cases).deletingLastPathComponent()
        let named = URL(fileURLWithPath: file.rules ?? "firestore.rules", relativeTo: folder).path
        let path = path ?? named
        let text = try read(path, command: command)
        do throws(InvalidRules) { return try Ruleset(text) } catch {
            let lines = error.issues.map { "\(path):\($0.position): \($0.message)" }
            throw failure(lines.joined(separator: "\n"), command)
        }
    }

    static func failure(_ sentence: String, _ command: String) -> any Error {
        CleanExit.message("tidemark rules \(command): \(sentence)").asFailure
    }
}
