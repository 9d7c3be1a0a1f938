import ArgumentParser
import Foundation

struct AllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "all",
        abstract: "Play all five journeys on the most important networks, and print a summary.",
        discussion: """
            Plays three clients of one feed, then a chat app, a messaging app, launches, killed \
            sign-ups, a fitness app, pictures and a day with a chat, each before and after. Takes \
            about eight minutes. Prints the first table within ten seconds, a summary, and the \
            name of the file with all tables. Fails only if a fact is wrong: an item is missed or \
            shown twice, reads exceed a limit, an account is incomplete, a write is lost or \
            doubled. A time over its limit is only a remark.
            """)

    @OptionGroup var source: HistoryOptions
    @OptionGroup var clients: ClientOptions
    @OptionGroup var scenarios: ScenarioOptions
    @OptionGroup var times: TimeOptions

    @Flag(
        help:
            """
            Play every row on every network, and a first table of 8,648 events. Takes about \
            half an hour.
            """
    )
    var full = false

    @Flag(help: "Print all tables as they are ready, instead of a summary.")
    var verbose = false

    @Option(
        help: "Write the tables to this file. (default: a temporary file)")
    var output: String?

    func validate() throws {
        if full, scenarios.small {
            throw ValidationError("--full and --small cannot be combined.")
        }
        if verbose, output != nil {
            throw ValidationError("--verbose and --output cannot be combined.")
        }
    }

    func run() async throws {
        let output = try verbose ? DemoOutput.verbose : DemoOutput(path: self.output ?? Self.file)
        let extent: DemoExtent = scenarios.small ? .small : full ? .full : .telling
        let journeys = Journeys(
            source: source, clients: clients, scenarios: scenarios, extent: extent, output: output)
        let (figures, judge) = try await times.play { try await journeys.play() }
        for slower in SlowerOnTidemark.all(of: figures) {
            output.detail("slower on Tidemark: \(slower.text)")
        }
        if !verbose {
            output.result(
                DemoSummary(
                    figures, seconds: figures.times?.play ?? 0, details: output.path
                ).text)
            output.result("To watch an app on two phones in a browser: make show")
        }
        try scenarios.end(judge).conclude(figures, output)
    }

    /// The default file. Its name has the id of this process, so two demos never share a file.
    private static var file: String {
        FileManager.default.temporaryDirectory
            .appendingPathComponent(
                "tidemark-demo-\(ProcessInfo.processInfo.processIdentifier).txt"
            )
            .path
    }
}
