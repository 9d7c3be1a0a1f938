import ArgumentParser

/// Which history a demo plays.
struct HistoryOptions: ParsableArguments {
    @Option(
        help:
            "A file of lines {id, author, authoredAt, committedAt, text}, times in seconds since 1970."
    )
    var history: String?

    @Option(help: "A git repository whose commits are the history.")
    var git: String?

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

    /// What was asked for; else the commits of the repository this runs in; else a made-up one.
    func load() throws -> History {
        if let history { return try .read(file: history, limit: limit) }
        if let git { return try .read(git: git, limit: limit) }
        // One of a few days has its opens minutes apart, where a listener costs nobody anything again.
        if let own = try? History.read(git: ".", limit: limit), own.events.count >= 200,
            own.end - own.start >= 30 * 86_400
        {
            return own
        }
        return try .generated(count: 3_000, seed: seed, limit: limit)
    }
}
