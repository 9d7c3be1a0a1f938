import ArgumentParser
import Foundation

struct LaunchDemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "launch",
        abstract: "Launch an app on seven networks, before and on Tidemark.",
        discussion: """
            Each launch is a separate process. Before, the app first waits for a check on the \
            server, without a deadline, and then for profile, feed and pictures. On Tidemark, it \
            shows the data on the device on any network and reports what is wrong. Fails if a \
            launch shows nothing or not everything, if a diagnosis or a rank is wrong, or if a \
            rank costs one read per user. A time over its limit is only a remark.
            """)

    @Option(help: "Number of documents on the device.") var documents = 100_000
    @Option(help: "Number of launches on each network, for the time to first content.")
    var launches = 200
    @Option(help: "Play only this network. Repeatable.") var network: [LaunchNetwork] = []
    @Option(help: "Write the figures to this file, as JSON.") var json: String?
    @OptionGroup var bills: BillOptions
    @OptionGroup var times: TimeOptions

    func validate() throws {
        if !(100...1_000_000).contains(documents) {
            throw ValidationError("--documents must be between 100 and 1000000.")
        }
        if !(1...1_000).contains(launches) {
            throw ValidationError("--launches must be between 1 and 1000.")
        }
    }

    func run() async throws {
        let networks = network.isEmpty ? LaunchNetwork.allCases : network
        let demo = LaunchDemo(
            documents: documents, launches: launches, networks: networks, bills: bills)
        let (figures, judge) = try await times.play {
            var figures = DemoFigures()
            figures.launches = try await demo.play(.verbose)
            return figures
        }
        try DemoEnd(json: json, judge: judge).conclude(figures, .verbose)
    }
}
