import ArgumentParser
import Foundation

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Show what Tidemark does, on a real history.",
        subcommands: [ChatsCommand.self])
}

struct ChatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chats",
        abstract: "Open a feed many times in three ways and count what it cost.",
        discussion: """
            Starts a server, plays a history of timed events into it, and lets three clients open the \
            app while it happens: one that listens to everything, one that asks for what is newer than \
            its newest, and Tidemark's feed. Ends with an error when Tidemark missed anything or showed \
            anything twice.
            """)

    @Option(
        help:
            "A file of lines {id, author, authoredAt, committedAt, text}, times in seconds since 1970."
    )
    var history: String?

    @Option(help: "A git repository whose commits are the history.")
    var git: String?

    @Option(help: "How often the app is opened, evenly spread over the history.")
    var opens = 120

    @Option(help: "Chooses which items are edited and deleted, and the generated history.")
    var seed: UInt64 = 1

    @Option(help: "Play only the first events.")
    var limit: Int?

    @Option(help: "Write the figures to this file, as JSON.")
    var json: String?

    func validate() throws {
        if history != nil, git != nil {
            throw ValidationError("--history and --git exclude each other.")
        }
        if opens < 1 || opens > 100_000 { throw ValidationError("--opens must be 1 to 100000.") }
        if let limit, limit < 2 { throw ValidationError("--limit must be 2 at least.") }
    }

    func run() async throws {
        let history = try loadHistory()
        let demo = ChatsDemo(history: history, opens: opens, seed: seed)
        print("Playing \(history.source): \(history.events.count) items, \(opens) opens.")
        let report = try await demo.run { ProgressLine.show($0) }
        ProgressLine.clear()
        print(report.table)
        print(String(format: "%.1f s in all", report.seconds))
        if let json { try report.json().write(to: URL(fileURLWithPath: json), options: .atomic) }
        guard report.clients.last?.isFaithful == true else {
            FileHandle.standardError.write(
                Data("Tidemark did not show just what was there.\n".utf8))
            throw ExitCode.failure
        }
    }

    /// What was asked for; else the commits of the repository this runs in; else a made-up one.
    private func loadHistory() throws -> History {
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

/// One line that is written over again, on a terminal only.
enum ProgressLine {
    private static let isTerminal = isatty(STDERR_FILENO) == 1

    static func show(_ text: String) {
        let line = isTerminal ? "\r\u{1B}[K\(text)" : text + "\n"
        FileHandle.standardError.write(Data(line.utf8))
    }

    static func clear() {
        if isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
    }
}
