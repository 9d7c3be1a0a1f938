import ArgumentParser
import Foundation

struct LaunchDemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "launch",
        abstract: "Launch an app on seven networks, as it was and on Tidemark.",
        discussion: """
            Each launch is a process of its own. The app as it was forces a diagnosis from the server \
            first, without a deadline, and profile, feed and pictures wait behind it. On Tidemark it \
            shows what the device holds, whatever the network does, and says what is the matter. Ends \
            with an error when a launch shows nothing or not all there is, when a diagnosis or a rank is \
            wrong, or a rank costs a read a user. A time that is too long is printed, and is no error.
            """)

    @Option(help: "Documents that the device holds.") var documents = 100_000
    @Option(help: "Launches on each network, for the time to first content.") var launches = 200
    @Option(help: "Play only this network; may be given again.") var network: [LaunchNetwork] = []
    @Option(help: "Write the figures to this file, as JSON.") var json: String?
    @OptionGroup var times: TimeOptions

    func validate() throws {
        if !(100...1_000_000).contains(documents) {
            throw ValidationError("--documents must be 100 to 1000000.")
        }
        if !(1...1_000).contains(launches) {
            throw ValidationError("--launches must be 1 to 1000.")
        }
    }

    func run() async throws {
        let networks = network.isEmpty ? LaunchNetwork.allCases : network
        let demo = LaunchDemo(documents: documents, launches: launches, networks: networks)
        let (figures, judge) = try await times.play {
            var figures = DemoFigures()
            figures.launches = try await demo.play(.verbose)
            return figures
        }
        try DemoEnd(json: json, judge: judge).conclude(figures, .verbose)
    }
}
