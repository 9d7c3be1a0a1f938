import ArgumentParser
import Foundation

struct AllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "all",
        abstract: "Play all five journeys on the networks that tell most, and sum them up.",
        discussion: """
            Three clients of one feed, then the rows of a chat app and of a messaging app, launches, \
            sign-ups that are killed, a fitness app and pictures, each before and after: some five \
            minutes. Prints the first table within ten seconds, a summary, and the name of the file \
            with the rest. Ends with an error when something does not hold, or when a release build \
            takes longer than that, or than six minutes in all; twice as long on a machine that was \
            busy before.
            """)

    @OptionGroup var source: HistoryOptions
    @OptionGroup var clients: ClientOptions
    @OptionGroup var scenarios: ScenarioOptions

    @Flag(help: "Play every row on every network: some 19 minutes.")
    var full = false

    @Flag(help: "Print all tables as they come, in the place of a summary.")
    var verbose = false

    @Option(
        help: "Write the tables to this file; by default to one in the folder for temporary files.")
    var output: String?

    func validate() throws {
        if full, scenarios.small {
            throw ValidationError("--full and --small exclude each other.")
        }
        if verbose, output != nil {
            throw ValidationError("With --verbose nothing is left to write to --output.")
        }
    }

    func run() async throws {
        let output = try verbose ? DemoOutput.verbose : DemoOutput(path: self.output ?? Self.file)
        let extent: DemoExtent = scenarios.small ? .small : full ? .full : .telling
        let journeys = Journeys(
            source: source, clients: clients, scenarios: scenarios, extent: extent, output: output)
        let figures = try await journeys.play()
        if verbose {
            if let remark = figures.times?.remark { output.result(remark) }
        } else {
            output.result(
                DemoSummary(
                    figures, seconds: figures.times?.play ?? 0, details: output.path
                ).text)
            output.result("To watch one of them on two phones in a browser: make show")
        }
        try scenarios.conclude(figures, output)
    }

    /// Of this process: two demos at a time do not share one.
    private static var file: String {
        FileManager.default.temporaryDirectory
            .appendingPathComponent(
                "tidemark-demo-\(ProcessInfo.processInfo.processIdentifier).txt"
            )
            .path
    }
}
