import ArgumentParser
import Foundation
import TidemarkImages

struct PicturesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pictures",
        abstract: "Show a feed's pictures and scroll past a thousand, before and after.",
        discussion: """
            Serves generated JPEGs from this process and shows them at 56×56 in processes of their own: \
            as an app did, sharing what is in flight and decoding the whole, and on Tidemark. Ends \
            with an error when a bar is missed, and says which.
            """)

    @Flag(help: "Play everything at a tenth of its size.") var small = false
    @Option(
        name: .customLong("scenario"),
        help: ArgumentHelp(
            "Play only the scenarios with this in their name; may be given again.",
            valueName: "text"))
    var names: [String] = []
    @Option(help: "Write the figures to this file, as JSON.") var json: String?

    func run() async throws {
        let start = ContinuousClock.now
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-pictures-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let rows = PictureRow.all(scale: small ? 10 : 1).filter { row in
            names.isEmpty || names.contains { row.name.contains($0) }
        }
        var scenarios: [LaunchScenario<[String: Double]>] = []
        for row in rows {
            let (scenario, complaints) = try await play(row, in: folder)
            scenarios.append(scenario)
            ProgressLine.clear()
            print(text(row, scenario))
            for complaint in complaints {
                FileHandle.standardError.write(Data("\(row.name): \(complaint)\n".utf8))
            }
        }
        let seconds = (ContinuousClock.now - start).milliseconds / 1_000
        print(String(format: "%.1f s in all", seconds))
        if let json { try LaunchFigures(scenarios: scenarios).write(to: json) }
        if !scenarios.allSatisfy(\.holds) { throw ExitCode.failure }
    }

    private func play(
        _ row: PictureRow, in folder: URL
    ) async throws -> (LaunchScenario<[String: Double]>, [String]) {
        ProgressLine.show("\(row.name): making \(row.distinct) pictures of \(row.size)")
        let server = PictureServer(try row.pictures())
        let port = try await server.start()
        let place = PicturePlace(
            row: row, server: server, port: port, folder: folder.appendingPathComponent(row.slug))
        ProgressLine.show("\(row.name): before")
        let before = try await place.show(.before)
        ProgressLine.show("\(row.name): after")
        let after = try await place.show(.after)
        await server.stop()
        let complaints = row.complaints(after)
        let scenario = LaunchScenario(
            name: row.name, network: row.isFailing ? "failing-30" : "healthy",
            holds: complaints.isEmpty, bar: row.bar, before: before, after: after)
        return (scenario, complaints)
    }

    private func text(
        _ row: PictureRow, _ scenario: LaunchScenario<[String: Double]>
    ) -> String {
        func number(_ value: Double?) -> String { value.map(Bar.number) ?? "-" }
        var lines = [
            "\(row.name) (\(scenario.network)): \(scenario.holds ? "holds" : "DOES NOT HOLD")",
            "  \(row.note)", "  bar: \(row.bar)",
            "  " + "".padding(toLength: 34, withPad: " ", startingAt: 0) + "before     after",
        ]
        let keys = Set(scenario.before.keys).union(scenario.after.keys)
        for key in keys.sorted() {
            let name = key.padding(toLength: 34, withPad: " ", startingAt: 0)
            let before = number(scenario.before[key])
                .padding(toLength: 11, withPad: " ", startingAt: 0)
            lines.append("  \(name)\(before)\(number(scenario.after[key]))")
        }
        return lines.joined(separator: "\n")
    }
}
