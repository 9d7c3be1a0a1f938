import ArgumentParser
import ExampleKit
import Foundation
import TidemarkHealth

struct HealthDemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Launch a fitness app with years of history, before and on Tidemark.",
        discussion: """
            Generates exports and plays the app's first launch with each of them, before and \
            after, with separate servers on each network. Fails with a reason if a check fails. \
            Ten years take about 1.2 GB; --small uses weeks.
            """)

    @Option(help: "Random seed; the same seed gives the same data.")
    var seed: UInt64 = 1

    @OptionGroup var scenarios: ScenarioOptions
    @OptionGroup var times: TimeOptions

    func run() async throws {
        let (figures, judge) = try await times.play {
            var figures = DemoFigures()
            figures.health = try await scenarios.playHealth(seed: seed, hasDecade: true, .verbose)
            return figures
        }
        try scenarios.end(judge).conclude(figures, .verbose)
    }
}

extension ScenarioOptions {
    private var weekdays: any ScenarioRow {
        StepsByWeekday.row(days: 730 / scale, changed: 3, today: 20_500)
    }

    /// - Parameter hasDecade: True if the longer export is also played.
    func playHealth(
        seed: UInt64, hasDecade: Bool, _ output: DemoOutput
    ) async throws -> [ScenarioResult] {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-demo-health-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (quarter, decade) = small ? (9, 60) : (90, 3_650)
        let launches = [(quarter, 0), (quarter, 5), (decade, 0)].filter { days, kills in
            (hasDecade || days == quarter) && isChosen(HealthRow.name(days: days, kills: kills))
        }
        var files: [Int: HealthExportFile] = [:]
        for (days, _) in launches where files[days] == nil {
            ProgressLine.show("generating an export of \(grouped(days)) days")
            files[days] = try HealthExportFile(days: days, seed: seed, in: folder)
        }
        if files[quarter] == nil, !launches.isEmpty {
            files[quarter] = try HealthExportFile(days: quarter, seed: seed, in: folder)
        }
        let exports = launches.compactMap { days, kills -> (any ScenarioRow)? in
            guard let file = files[days], let before = files[quarter] else { return nil }
            return HealthRow(file, before: before, kills: kills)
        }
        let kits: [any ScenarioRow] = [0, 2].map { HealthKitRow(days: quarter, kills: $0) }
        output.detail("\nThe fitness app, each row on each network.")
        // The clock is later than any day of the exports. The networks run one after the other,
        // because local work is timed.
        return try await play(
            exports + kits + [weekdays], clock: 1_780_000_000, under: .health,
            isConcurrent: false, output)
    }
}

/// An export that was generated for the demo, and its content.
struct HealthExportFile: Sendable {
    let days: Int
    let path: URL
    let truth: HealthTruth

    init(days: Int, seed: UInt64, in folder: URL) throws {
        self.days = days
        path = folder.appendingPathComponent("export-\(days).xml")
        try Data().write(to: path)
        let file = try FileHandle(forWritingTo: path)
        truth = try HealthGenerator(days: days, seed: seed).generate {
            try file.write(contentsOf: $0)
        }
        try file.close()
    }

    /// The days with data that the app shows.
    var shownDays: ClosedRange<HealthDay> {
        let days = HealthApp.kinds.flatMap { (truth.totals[$0] ?? [:]).keys }.sorted()
        guard let first = days.first, let last = days.last else {
            preconditionFailure("an export of nothing was generated")
        }
        return first...last
    }
}
