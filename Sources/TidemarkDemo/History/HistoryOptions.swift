import ArgumentParser
import Foundation

/// The options that choose the history of a demo.
struct HistoryOptions: ParsableArguments {
    @Option(
        help:
            "A file of lines {id, author, authoredAt, committedAt, text}, times in seconds since 1970."
    )
    var history: String?

    @Option(help: "A git repository whose commits are the history.")
    var git: String?

    /// The number of events in the first history with which Tidemark was measured. `--full` plays
    /// as many.
    static let whole = 8_648
    /// The file of that history, beside the repository. Not every machine has it.
    private static let wholeFile = "../shared/data/commit-history.jsonl"
    private static let usual = 3_000

    @Option(help: "Chooses which items are edited and deleted, and the generated history.")
    var seed: UInt64 = 1

    @Option(help: "Play only the first events.")
    var limit: Int?

    func validate() throws {
        if history != nil, git != nil {
            throw ValidationError("--history and --git exclude each other.")
        }
        if let limit, limit < 2 { throw ValidationError("--limit must be 2 at least.") }
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
