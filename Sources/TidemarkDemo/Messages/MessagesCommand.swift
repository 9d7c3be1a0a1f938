import ArgumentParser

struct MessagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messages",
        abstract: "Page, retry and send on bad networks, as an app did and on Tidemark.",
        discussion: """
            Plays the messaging app's rows against servers of its own, each before and after, on every \
            network: healthy, 3G, three calls of ten failing, offline and then back. Ends with an error \
            when one does not hold, and says why.
            """)

    @OptionGroup var source: HistoryOptions
    @OptionGroup var scenarios: ScenarioOptions

    func run() async throws {
        var figures = DemoFigures()
        figures.scenarios = try await scenarios.playMessages(try source.load())
        try scenarios.conclude(figures)
    }
}

struct AllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "all",
        abstract: "Play chats, then messages; with --small also a little of health.")

    @OptionGroup var source: HistoryOptions
    @OptionGroup var clients: ClientOptions
    @OptionGroup var scenarios: ScenarioOptions

    func run() async throws {
        let history = try source.load()
        var figures = DemoFigures(clients: try await clients.play(history, seed: source.seed))
        figures.scenarios = try await scenarios.playChats(history, seed: source.seed)
        figures.scenarios += try await scenarios.playMessages(history)
        if scenarios.small {
            var quick = scenarios
            if quick.networks.isEmpty { quick.networks = [.healthy] }
            figures.scenarios += try await quick.playHealth(seed: source.seed)
        }
        try scenarios.conclude(figures)
    }
}

extension ScenarioOptions {
    func playMessages(_ history: History) async throws -> [ScenarioResult] {
        let messages = MessagesScenarios(scale: scale, history: history)
        print("\nThe messaging app, each row on every network, of \(history.source).")
        print("Thumbnails are a demo of their own: tidemark demo pictures.")
        return try await play(messages.rows, clock: messages.clock)
    }
}
