import ArgumentParser
import Foundation
import TidemarkModel
import TidemarkServer

/// Writes or checks a `firestore.indexes.json` by the indexes that an app's queries have needed.
struct IndexesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "indexes",
        abstract: "Write the indexes that an app's queries need, or check those there are.",
        discussion: """
            The needs are what an IndexAdvisor collects while the app's tests run. Without --check the \
            missing indexes are added to the file; everything else in it stays as it is, also what \
            means nothing to Tidemark. With --check nothing is written, and the exit code is 1 when an \
            index is missing, or with --prune when one is superfluous.
            """)

    @Argument(help: "Files that an IndexAdvisor has written; several runs add up.")
    var needs: [String]

    @Option(help: "The firestore.indexes.json.")
    var file = "firestore.indexes.json"

    @Flag(help: "Write nothing; fail when the file does not do.")
    var check = false

    @Flag(help: "Also take out the indexes that none of the queries would use.")
    var prune = false

    func run() async throws {
        var collected = IndexNeeds()
        for path in needs { collected.merge(try Self.read(path)) }
        // A file that will be written need not exist, but must not have comments.
        var configuration = try Self.failing { () throws(IndexFileError) in
            try IndexFile.read(file, policy: check ? .strict : .auto).configuration
        }
        let advice = IndexAdvice(collected, in: configuration.catalog)
        say(advice, collected)
        if check {
            let isRight = advice.missing.isEmpty && !(prune && !advice.superfluous.isEmpty)
            if !isRight { throw ExitCode.failure }
            return
        }
        for index in advice.missing where !configuration.add(index) {
            throw Self.failure("\(file) is full.")
        }
        if prune { configuration.remove(Set(advice.superfluous)) }
        let result = configuration
        try Self.failing { () throws(IndexFileError) in try IndexFile.write(result, to: file) }
    }

    private static func failing<T>(_ body: () throws(IndexFileError) -> T) throws -> T {
        do throws(IndexFileError) { return try body() } catch { throw failure(error.message) }
    }

    private static func failure(_ sentence: String) -> any Error {
        CleanExit.message("tidemark indexes: \(sentence)").asFailure
    }

    private func say(_ advice: IndexAdvice, _ needs: IndexNeeds) {
        for index in advice.missing { print("missing: \(index.sentence)") }
        for index in advice.superfluous {
            print("superfluous: \(MissingIndex.composite(index).sentence)")
        }
        if needs.dropped > 0 {
            print("\(needs.dropped) queries were not looked at: there were too many kinds.")
        }
        if advice.missing.isEmpty {
            print("\(needs.counts.count) kinds of queries have the indexes they need.")
        }
    }

    private static func read(_ path: String) throws -> IndexNeeds {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw failure("There is no file \(path).")
        }
        do { return try JSONDecoder().decode(IndexNeeds.self, from: data) } catch {
            throw failure("\(path) was not written by an IndexAdvisor.")
        }
    }
}
