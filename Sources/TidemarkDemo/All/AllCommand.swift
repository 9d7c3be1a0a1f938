import ArgumentParser
import Foundation

struct AllCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "all",
        abstract: "Play all five journeys on the networks that tell most, and sum them up.",
        discussion: """
            Three clients of one feed, then the rows of a chat app and of a messaging app, launches, \
            sign-ups that are killed, a fitness app and pictures, each before and after: some six \
            minutes. Prints the first table within ten seconds, a summary, and the name of the file \
            with the rest. Ends with an error only when something is wrong: an item that is missed or \
            shown twice, a read above a bar, a half-made account, a write that is lost or doubled. A time \
            that is too long is printed with a remark.
            """)

    @OptionGroup var source: HistoryOptions
    @OptionGroup var clients: ClientOptions
    @OptionGroup var scenarios: ScenarioOptions
    @OptionGroup var times: TimeOptions

    @Flag(
        help:
            "Play every row on every network, and a first table of 8,648 events: some half an hour."
    )
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
        let (figures, judge) = try await times.play { try await journeys.play() }
        for slower in SlowerOnTidemark.all(of: figures) {
            output.detail("slower on Tidemark: \(slower.text)")
        }
        if !verbose {
            output.result(
                DemoSummary(
                    figures, seconds: figures.times?.play ?? 0, details: output.path
                ).text)
            output.result("To watch one of them on two phones in a browser: make show")
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
