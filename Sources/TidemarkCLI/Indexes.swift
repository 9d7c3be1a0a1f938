import ArgumentParser
import Foundation
import TidemarkModel
import TidemarkServer

/// Writes or checks a `firestore.indexes.json` by the indexes that an app's queries have needed.
struct IndexesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "indexes",
        abstract: "Write the indexes that an app's queries need, or check a file of indexes.",
        discussion: """
            An IndexAdvisor collects the queries while the app's tests run. Without --check, the \
            command adds missing indexes to the file and keeps everything else in it, including \
            settings that Tidemark does not know. With --check, it writes nothing and exits with \
            1 if an index is missing or, with --prune, if an index is superfluous.
            """)

    @Argument(help: "Files of an IndexAdvisor. The queries of several files are combined.")
    var needs: [String]

    @Option(help: "The firestore.indexes.json file.")
    var file = "firestore.indexes.json"

    @Flag(help: "Exit with 1 if the file lacks an index; write nothing.")
    var check = false

    @Flag(help: "Also remove the indexes that no query uses.")
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
            throw Self.failure("\(file) cannot hold more indexes.")
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
            print("\(needs.dropped) queries were not checked: there were too many kinds.")
        }
        if advice.missing.isEmpty {
            print("All \(needs.counts.count) kinds of queries have their indexes.")
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
