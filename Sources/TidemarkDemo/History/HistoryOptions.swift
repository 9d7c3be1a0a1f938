import ArgumentParser
import Foundation

/// The options that choose the history of a demo.
struct HistoryOptions: ParsableArguments {
    @Option(
        help:
            """
            A file with one event per line, {id, author, authoredAt, committedAt, text}, \
            with times in seconds since 1970.
            """
    )
    var history: String?

    @Option(help: "A git repository. Its commits are the history.")
    var git: String?

    /// The number of events in the first history with which Tidemark was measured. `--full` plays
    /// as many.
    static let whole = 8_648
    /// The file of that history, beside the repository. Not every machine has it.
    private static let wholeFile = "../shared/data/commit-history.jsonl"
    private static let usual = 3_000

    @Option(help: "Random seed of the generated history, its edits and deletes.")
    var seed: UInt64 = 1

    @Option(help: "Play only this number of first events.")
    var limit: Int?

    func validate() throws {
        if history != nil, git != nil {
            throw ValidationError("--history and --git cannot be combined.")
        }
        if let limit, limit < 2 { throw ValidationError("--limit must be at least 2.") }
    }

    /// Returns the chosen history, or else a generated one.
    ///
    /// - Parameter isWhole: True for 8,648 events. They are read from `commit-history.jsonl` if
    ///   that file is beside the repository.
    func load(isWhole: Bool = false) throws -> History {
        if let history { return try .read(file: history, limit: limit) }
        if let git { return try .read(git: git, limit: limit) }
        if isWhole, FileManager.default.fileExists(atPath: Self.wholeFile) {
            return try .read(file: Self.wholeFile, limit: limit)
        }
        return try .generated(
            count: isWhole ? Self.whole : Self.usual, seed: seed, limit: limit)
    }
}
