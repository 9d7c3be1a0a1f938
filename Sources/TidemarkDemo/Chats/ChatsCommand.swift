import ArgumentParser
import ExampleKit
import Foundation

struct ChatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chats",
        abstract: "Open a feed many times with three clients, then play the chat app.",
        discussion: """
            Starts a server, plays a history of events into it, and lets three clients open the \
            app meanwhile: one listens to everything, one queries items newer than its newest, \
            and one is Tidemark's feed. Then plays the actions of a chat app's users, before and \
            after, on every network: healthy, 3G, three of ten calls failing, offline and back \
            online. Fails if an item is missed or shown twice, or if reads exceed a limit. A \
            time over its limit is only a remark.
            """)

    @OptionGroup var source: HistoryOptions
    @OptionGroup var clients: ClientOptions
    @OptionGroup var scenarios: ScenarioOptions
    @OptionGroup var times: TimeOptions

    func run() async throws {
        let history = try source.load()
        let (figures, judge) = try await times.play {
            var figures = DemoFigures(
                clients: try await clients.play(history, seed: source.seed, .verbose))
            let extent: DemoExtent = scenarios.small ? .small : .full
            figures.chats = try await scenarios.playChats(
                history, seed: source.seed, longChat: extent.longChat, .verbose)
            return figures
        }
        for line in Headline(figures.chats)?.lines ?? [] { DemoOutput.verbose.result(line) }
        try scenarios.end(judge).conclude(figures, .verbose)
    }
}

/// The options for the comparison of the three clients.
struct ClientOptions: ParsableArguments {
    @Option(help: "The number of times the app is opened, spread evenly over the history.")
    var opens = Self.usualOpens

    static let usualOpens = 120

    func validate() throws {
        if opens < 1 || opens > 100_000 {
            throw ValidationError(
                """
                --opens must be between 1 and 100000.
                """)
        }
    }

    /// Plays the clients, and prints their table.
    func play(
        _ history: History, seed: UInt64, _ output: DemoOutput
    ) async throws -> DemoReport {
        let demo = ChatsDemo(history: history, opens: opens, seed: seed)
        let (played, speed) = try await TimeJudge.timed {
            try await demo.run { ProgressLine.show($0) }
        }
        var report = played
        report.speed = speed
        output.result(report.caption)
        output.result(report.table)
        output.detail(String(format: "%.1f s in all", report.seconds))
        output.detail(report.bar.text)
        if report.predictions.opens > 0 { output.detail(report.predictions.text) }
        return report
    }
}

extension ScenarioOptions {
    /// - Parameter longChat: The number of messages in the longest chat, at full size.
    func playChats(
        _ history: History, seed: UInt64, longChat: Int, _ output: DemoOutput
    ) async throws -> [ScenarioResult] {
        let chats = ChatsScenarios(
            scale: scale, longChat: longChat, history: history, seed: seed)
        output.detail("\nThe chat app, each row on each network. \(chats.remark)")
        return try await play(chats.rows, clock: chats.clock, under: .chats, output)
    }
}
