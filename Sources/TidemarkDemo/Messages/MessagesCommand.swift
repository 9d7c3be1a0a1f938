import ArgumentParser
import ExampleKit

struct MessagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messages",
        abstract: "Page, retry and send on bad networks, as an app did and on Tidemark.",
        discussion: """
            Plays the messaging app's rows against servers of its own, each before and after, on every \
            network: healthy, 3G, three calls of ten failing, offline and then back. Ends with an error \
            when one does not hold, and says why. A time that is too long is printed, and is no error.
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
