import ArgumentParser
import Foundation
import Tidemark
import TidemarkApp
import TidemarkModel

struct LaunchDemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "launch",
        abstract: "Launch an app on seven networks, as it was and on Tidemark.",
        discussion: """
            The app as it was asks the server for everything, with a diagnosis first and no deadline. On \
            Tidemark it shows what the device holds, whatever the network does, and says what is the \
            matter. Ends with an error when first content is late, or a read outlives its deadline.
            """)

    @Option(help: "Documents that the device holds.") var documents = 100_000
    @Option(help: "Launches on each network, for the time to first content.") var launches = 50
    @Option(help: "Play only this network; may be given again.") var network: [LaunchNetwork] = []
    @Option(help: "Write the figures to this file, as JSON.") var json: String?

    func validate() throws {
        if !(100...1_000_000).contains(documents) {
            throw ValidationError("--documents must be 100 to 1000000.")
        }
        if !(1...1_000).contains(launches) {
            throw ValidationError("--launches must be 1 to 1000.")
        }
    }

    func run() async throws {
        let start = ContinuousClock.now
        let networks = network.isEmpty ? LaunchNetwork.allCases : network
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-launch-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let data = folder.appendingPathComponent("server")
        let server = try await ServerProcess(
            data: data, options: ["--accounts-port", "0"] + LaunchNetwork.serverOptions)
        defer { server.stop() }
        let ports = try JSONDecoder().decode(
            LaunchPorts.self, from: Data(contentsOf: data.appendingPathComponent("ports.json")))
        let gates = try await LaunchGates(
            firestore: server.directPort, accounts: ports.accounts, networks)
        let app = StampsApp(folder: folder.appendingPathComponent("device").path)
        try await prepare(app, server, gates.direct)
        var scenarios: [LaunchScenario<LaunchFigure>] = []
        for network in networks {
            guard let place = gates.places[network] else { continue }
            ProgressLine.show("\(network.rawValue): as it was")
            let before = await app.launchAsItWas(place, network.label)
            ProgressLine.show("\(network.rawValue): on Tidemark, \(launches) launches")
            let after = try await app.launch(place, network.label, times: launches)
            scenarios.append(
                LaunchScenario(
                    name: "launch", network: network.rawValue, holds: after.holds,
                    bar: LaunchFigure.bar, before: before, after: after))
        }
        ProgressLine.clear()
        await gates.close()
        print(table(scenarios))
        let seconds = (ContinuousClock.now - start).milliseconds / 1_000
        print(String(format: "%d documents on the device, %.1f s in all", documents, seconds))
        if let json { try LaunchFigures(scenarios: scenarios).write(to: json) }
        if !scenarios.allSatisfy(\.holds) { throw ExitCode.failure }
    }

    /// A person who has used the app for a while: an account, a profile, and a full cache.
    private func prepare(
        _ app: StampsApp, _ server: ServerProcess, _ place: LaunchPlace
    ) async throws {
        ProgressLine.show("\(documents) documents on the server")
        let direct = DirectServer(server)
        let stamps = (0..<documents).map { number in
            let time = Value.timestamp(
                Timestamp(seconds: 1_700_000_000 + Int64(number), nanoseconds: 0))
            return Mutation(
                path: DocumentPath(unchecked: "stamps/s\(number)"),
                .set(["name": .string("Stamp \(number)"), "createdAt": time, "updatedAt": time]))
        }
        try await direct.play(stamps, together: 500)
        await direct.close()
        ProgressLine.show("\(documents) documents on the device")
        try await app.prepare(place)
    }

    private func table(_ scenarios: [LaunchScenario<LaunchFigure>]) -> String {
        func row(_ cells: [String]) -> String {
            zip(cells, [10, 7, 14, 11, 12, 14, 40]).map { text, width in
                text.padding(toLength: max(width, text.count), withPad: " ", startingAt: 0)
            }.joined(separator: " ")
        }
        func text(_ milliseconds: Double?, _ none: String) -> String {
            milliseconds.map { String(format: "%.1f ms", $0) } ?? none
        }
        var lines = [
            row([
                "network", "side", "first content", "p99", "live", "over deadline",
                "what the person sees",
            ])
        ]
        for scenario in scenarios {
            for (side, figure) in [("before", scenario.before), ("after", scenario.after)] {
                lines.append(
                    row([
                        scenario.network, side, text(figure.firstContentMs, "nothing"),
                        text(figure.firstContentP99Ms, "-"), text(figure.liveMs, "no"),
                        text(figure.overDeadlineMs, "-"), figure.shown,
                    ]))
            }
        }
        return lines.joined(separator: "\n")
    }
}

private struct LaunchPorts: Decodable {
    let accounts: Int
}

/// What launches on one network came to.
struct LaunchFigure: Encodable, Sendable {
    static let bar =
        "first content p99 at most 20 ms, no read over its deadline by more than 50 ms, a way on"

    /// The median; nil for nothing as long as anybody looked.
    var firstContentMs: Double?
    var firstContentP99Ms: Double?
    /// To what the server holds; nil when it was not reached.
    var liveMs: Double?
    /// By how much a read with a deadline of 500 ms was late.
    var overDeadlineMs: Double?
    /// The last thing that the person was shown.
    var shown = "nothing"
    var isUsable = false
    /// Items of the first content.
    var items = 0

    var holds: Bool {
        guard let first = firstContentP99Ms, let over = overDeadlineMs else { return false }
        return first <= 20 && over <= 50 && isUsable && items > 0
    }
}
