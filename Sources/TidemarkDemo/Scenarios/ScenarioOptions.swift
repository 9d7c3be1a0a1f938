import ArgumentParser
import ExampleKit
import Foundation
import TidemarkModel

/// The options that choose the scenarios of a demo and the files for their figures.
struct ScenarioOptions: ParsableArguments {
    @Flag(help: "Play everything at a tenth of its size.")
    var small = false

    @Option(
        name: .customLong("network"),
        help: ArgumentHelp(
            """
            Play only this network. Repeatable. One of \
            \(DemoNetwork.allCases.map(\.rawValue).joined(separator: ", ")).
            """, valueName: "name"))
    var networks: [DemoNetwork] = []

    @Option(
        name: .customLong("scenario"),
        help: ArgumentHelp(
            "Play only scenarios with this text in their name. Repeatable.",
            valueName: "text"))
    var names: [String] = []

    @OptionGroup var bills: BillOptions

    @Option(help: "Write the figures to this file, as JSON.")
    var json: String?

    @Option(help: "Draw charts of the figures in this folder, as SVG.")
    var svg: String?

    var scale: Int { small ? 10 : 1 }

    /// Returns true if the options choose a scenario with this name.
    func isChosen(_ name: String) -> Bool {
        names.isEmpty || names.contains { name.contains($0) }
    }

    /// Plays the chosen rows, and prints their table as a detail.
    ///
    /// - Parameters:
    ///   - clock: The server's time at the start, in seconds since 1970.
    ///   - rules: The security rules of the app.
    ///   - isConcurrent: True if the networks may run concurrently.
    func play(
        _ rows: [any ScenarioRow], clock: Int64, under rules: ExampleRules,
        isConcurrent: Bool = true, _ output: DemoOutput
    ) async throws -> [ScenarioResult] {
        let rows = rows.filter { isChosen($0.name) }
        if rows.isEmpty { return [] }
        let start = ContinuousClock.now
        let run = ScenarioRun(
            rows: rows, networks: networks.isEmpty ? DemoNetwork.allCases : networks, clock: clock,
            rules: rules, edition: bills.edition, plantsRead: bills.plantsRead,
            isConcurrent: isConcurrent)
        let results = try await run.run { ProgressLine.show($0) }
        output.detail("\(ScenarioTable(results: results))")
        if results.contains(where: { $0.after.lostAnswers > 0 }) {
            output.detail(
                """
                On failing-30, billed answers get lost. Each lost answer allows the reads of the \
                limit once more.
                """)
        }
        let seconds = (ContinuousClock.now - start).milliseconds / 1_000
        output.detail(String(format: "%.1f s in all", seconds))
        return results
    }

    /// Returns the end of the demo, with the files of these options.
    func end(_ judge: TimeJudge?) -> DemoEnd { DemoEnd(json: json, svg: svg, judge: judge) }
}

extension DemoNetwork: ExpressibleByArgument {}
