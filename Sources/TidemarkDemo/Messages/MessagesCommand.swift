import ArgumentParser
import ExampleKit

struct MessagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messages",
        abstract: "Page, retry and send on bad networks, before and on Tidemark.",
        discussion: """
            Plays the actions of a messaging app, before and after, with separate servers on \
            every network: healthy, 3G, three of ten calls failing, offline and back online. \
            Fails with a reason if a check fails. A time over its limit is only a remark.
            """)

    @OptionGroup var source: HistoryOptions
    @OptionGroup var scenarios: ScenarioOptions
    @OptionGroup var times: TimeOptions

    func run() async throws {
        let history = try source.load()
        let (figures, judge) = try await times.play {
            var figures = DemoFigures()
            figures.messages = try await scenarios.playMessages(history, .verbose)
            return figures
        }
        try scenarios.end(judge).conclude(figures, .verbose)
    }
}

extension ScenarioOptions {
    func playMessages(
        _ history: History, _ output: DemoOutput
    ) async throws -> [ScenarioResult] {
        let messages = MessagesScenarios(scale: scale, history: history)
        output.detail("\nThe messaging app, each row on each network, of \(history.text).")
        return try await play(messages.rows, clock: messages.clock, under: .messages, output)
    }
}
