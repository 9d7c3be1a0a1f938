import ArgumentParser
import Foundation

struct DayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "day",
        abstract: "Measure the processor time and wake-ups of a chat app's day.",
        discussion: """
            Runs a chat of 1,000 messages in a process, as it was and on Tidemark. Measures from \
            outside what a launch, a message and a quiet minute cost, and adds them up to a day: \
            20 launches, and four hours on the screen with a message each minute. Only Linux tells \
            these figures. A phone's battery also pays for its radio and its screen, which are not \
            measured.
            """)

    @Option(help: "Number of messages in the chat.") var messages = 1_000
    @Option(help: "Seconds in which nothing arrives.") var quiet = 60

    func validate() throws {
        if !(1...100_000).contains(messages) {
            throw ValidationError("--messages must be between 1 and 100000.")
        }
        if !(1...3_600).contains(quiet) {
            throw ValidationError("--quiet must be between 1 and 3600 seconds.")
        }
    }

    func run() async throws {
        let uses = try await DayDemo(held: messages, quiet: quiet).play()
        print(Self.text(uses))
    }

    /// Returns the figures as a table.
    static func text(_ uses: [Side: DayUse]) -> String {
        let (before, after) = (uses[.before] ?? DayUse(), uses[.after] ?? DayUse())
        func row(_ name: String, _ figure: (DayUse) -> Double, _ unit: String) -> String {
            let columns = [before, after].map { use in
                String(format: "%.1f", figure(use)) + unit
            }
            return name.padding(toLength: 34, withPad: " ", startingAt: 0)
                + columns[0].padding(toLength: 14, withPad: " ", startingAt: 0) + columns[1]
        }
        return [
            "".padding(toLength: 34, withPad: " ", startingAt: 0) + "before        after",
            row("processor time of a launch", { $0.open.milliseconds }, " ms"),
            row("processor time of a message", { $0.message.milliseconds }, " ms"),
            row("processor time of a quiet minute", { $0.quietMinute.milliseconds }, " ms"),
            row("wake-ups of a launch", { $0.open.wakes }, ""),
            row("wake-ups of a message", { $0.message.wakes }, ""),
            row("wake-ups of a quiet minute", { $0.quietMinute.wakes }, ""),
            row("processor time of a day", { $0.inDay(\.milliseconds) / 1_000 }, " s"),
            row("wake-ups of a day", { $0.inDay(\.wakes) }, ""),
        ].joined(separator: "\n")
    }
}
