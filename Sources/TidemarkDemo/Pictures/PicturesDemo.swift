import Foundation
import TidemarkImages
import TidemarkPhones

/// Shows pictures in separate processes: by the code of the old app, and by Tidemark.
struct PicturesDemo: Sendable {
    let rows: [PictureRow]

    /// Plays the rows, and prints their figures as a detail.
    func play(_ output: DemoOutput) async throws -> [LaunchScenario<[String: Double]>] {
        let start = ContinuousClock.now
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-pictures-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var scenarios: [LaunchScenario<[String: Double]>] = []
        for row in rows {
            let (played, speed) = try await TimeJudge.timed { try await play(row, in: folder) }
            var scenario = played
            scenario.speed = speed
            scenarios.append(scenario)
            output.detail("\n" + text(row, scenario))
        }
        let seconds = (ContinuousClock.now - start).milliseconds / 1_000
        output.detail(String(format: "%.1f s in all", seconds))
        return scenarios
    }

    private func play(
        _ row: PictureRow, in folder: URL
    ) async throws -> LaunchScenario<[String: Double]> {
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
        return LaunchScenario(
            name: row.name, network: row.isFailing ? "failing-30" : "healthy", bar: row.bar,
            before: before, after: after, why: row.complaints(after), slow: row.slow(after))
    }

    private func text(
        _ row: PictureRow, _ scenario: LaunchScenario<[String: Double]>
    ) -> String {
        func number(_ value: Double?) -> String { value.map(Bar.number) ?? "-" }
        var lines = [
            "\(row.name) (\(scenario.network)): \(scenario.holds ? "holds" : "")\(scenario.verdict)",
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
