import ArgumentParser
import Foundation

/// Which history a demo plays.
struct HistoryOptions: ParsableArguments {
    @Option(
        help:
            "A file of lines {id, author, authoredAt, committedAt, text}, times in seconds since 1970."
    )
    var history: String?

    @Option(help: "A git repository whose commits are the history.")
    var git: String?

    /// Events of the first history that Tidemark was measured with; `--full` plays as many.
    static let whole = 8_648
    /// Where that history is kept, beside the repository, on machines that have it.
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

    /// What was asked for, else a generated history.
    ///
    /// - Parameter isWhole: Whether it has 8,648 events. Those of `commit-history.jsonl` are taken where
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
