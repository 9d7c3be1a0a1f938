import ExampleKit
import Foundation
import TidemarkModel
import TidemarkPhones

/// The results of the launches.
struct LaunchDemoFigures: Sendable {
    var launches: [LaunchScenario<LaunchFigure>] = []
    var diagnoses: [LaunchScenario<DiagnosisFigure>] = []
    var ranks: [LaunchScenario<RankFigure>] = []
    var bills: [LaunchScenario<LaunchBills>] = []
    var costs: [LaunchScenario<DiagnosisCost>] = []
    var updates: [LaunchScenario<UpdateFigure>] = []

    var scenarios: [any Encodable & Sendable] {
        launches + bills + diagnoses + ranks + costs + updates
    }

    /// The failed requirements as sentences; empty if all hold.
    var complaints: [String] {
        launches.compactMap(\.complaint) + bills.compactMap(\.complaint)
            + diagnoses.compactMap(\.complaint)
            + ranks.compactMap(\.complaint) + costs.compactMap(\.complaint)
            + updates.compactMap(\.complaint)
    }

    /// The times that exceeded their limits.
    var remarks: [String] {
        launches.flatMap(\.remarks) + diagnoses.flatMap(\.remarks) + ranks.flatMap(\.remarks)
            + costs.flatMap(\.remarks)
    }

    var table: String {
        [launchTable, bills.map(\.line), diagnosisTable, rankLines, costLines, updateLines].filter {
            !$0.isEmpty
        }
        .map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    private static func row(_ cells: [String], _ widths: [Int]) -> String {
        zip(cells, widths).map { text, width in
            text.padding(toLength: max(width, text.count), withPad: " ", startingAt: 0)
        }.joined(separator: " ")
    }

    private static func text(_ milliseconds: Double?, _ none: String) -> String {
        milliseconds.map { String(format: "%.1f ms", $0) } ?? none
    }

    private var launchTable: [String] {
        let widths = [10, 7, 21, 24, 14, 10, 19, 15, 14, 40]
        let head = [
            "network", "side", "first content", "slowest", "of the app", "live",
            "picture (worst)", "reads, of rules", "over deadline", "what the person sees",
        ]
        return [Self.row(head, widths)]
            + launches.flatMap { scenario in
                [("before", scenario.before), ("after", scenario.after)].map { side, figure in
                    Self.row(Self.cells(scenario, side: side, figure: figure), widths)
                }
            }
    }

    private static func cells(
        _ scenario: LaunchScenario<LaunchFigure>, side: String, figure: LaunchFigure
    ) -> [String] {
        let worst = figure.pictureWorstMs.map { String(format: " (%.0f)", $0) } ?? ""
        let reads = figure.reads.map { "\(grouped($0)), \(figure.readsOfRules ?? 0)" }
        return [
            scenario.network, side,
            text(figure.firstContentMs, "nothing") + " of \(figure.launches)",
            text(figure.slowest.ms, "never") + " (\(figure.slowest.name))",
            text(figure.slowest.ofInitMs, "-"),
            text(figure.liveMs, "no"), text(figure.pictureMs, "-") + worst, reads ?? "-",
            text(figure.overDeadlineMs, "-"),
            figure.shown + (side == "after" ? scenario.verdict : ""),
        ]
    }

    private var diagnosisTable: [String] {
        let widths = [10, 18, 10, 60]
        let head = ["network", "before: shown at", "found in", "what the doctor says"]
        return [Self.row(head, widths)]
            + diagnoses.map { scenario in
                let found = scenario.after
                let cells = [
                    scenario.network, Self.text(scenario.before.heldUpMs, "never"),
                    Self.text(found.tookMs, "-"),
                    "\(found.verdict ?? "-"): \(found.message ?? "")" + scenario.verdict,
                ]
                return Self.row(cells, widths)
            }
    }

    private var rankLines: [String] {
        ranks.map { scenario in
            let (before, after) = (scenario.before, scenario.after)
            return """
                rank on \(scenario.network): \(after.rank) for \(grouped(after.reads)) reads, \
                \(Self.text(after.ms, "never")) after the launch; before \(before.rank) for \
                \(grouped(before.reads)), \(Self.text(before.ms, "never"))\
                \(scenario.verdict)
                """
        }
    }

    private var updateLines: [String] {
        updates.map { scenario in
            """
            \(scenario.name), \(scenario.network): \(scenario.after.text); before \
            \(scenario.before.text)\(scenario.verdict)
            """
        }
    }

    private var costLines: [String] {
        costs.map { scenario in
            let (before, after) = (scenario.before, scenario.after)
            return String(
                format: """
                    launch until live, with a diagnosis and without: %.1f and %.1f ms, %+.1f %% \
                    (before: %.1f and %.1f ms, %+.1f %%)%@
                    """,
                after.withMs, after.withoutMs, after.percent, before.withMs, before.withoutMs,
                before.percent, scenario.verdict)
        }
    }
}

/// The median time until a launch is live, with a diagnosis and without.
struct DiagnosisCost: Encodable, Sendable {
    static let bar = "the launch is at most 5 % longer with a diagnosis"

    var slow: [SlowTime] {
        [SlowTime("longer with a diagnosis by %", percent, limit: 5)].compactMap(\.self)
    }

    let withMs: Double
    let withoutMs: Double

    init(with: [Double], without: [Double]) {
        withMs = with.sorted()[with.count / 2]
        withoutMs = without.sorted()[without.count / 2]
    }

    var percent: Double { (withMs / withoutMs - 1) * 100 }
}

/// The user's rank among all users, as a launch showed it.
struct RankFigure: Encodable, Sendable {
    /// The text of the row.
    let rank: String
    /// The number of documents or counts by the server's meter.
    let reads: Int
    /// The time since the launch in milliseconds; nil if no rank was shown.
    let ms: Double?

    /// - Parameters:
    ///   - method: The method by which the app asks for the rank.
    ///   - others: The number of the launch's other reads with the same method.
    init(_ launch: WholeLaunch, by method: RPCMethod, others: Int = 0) {
        rank = launch.use.last?.rank?.trailing ?? "none"
        reads = launch.bill.reads(by: method, on: "users") - others
        ms = launch.use.first { $0.rank != nil && $0.rank?.detail == nil }
    }
}

extension LaunchScenario<RankFigure> {
    /// Compares the rank of the app as it was, which reads every user with more stamps, with the
    /// rank on Tidemark, which counts them.
    init(_ network: LaunchNetwork, before: WholeLaunch, after: WholeLaunch) {
        // The check of the connection reads one user.
        let old = RankFigure(before, by: .runQuery, others: 1)
        let new = RankFigure(after, by: .runAggregationQuery)
        let most = (old.reads + 999) / 1_000
        var why: [String] = []
        if new.rank != old.rank { why.append("rank \(new.rank), and before \(old.rank)") }
        if new.ms == nil { why.append("no rank was shown") }
        if !(1...max(1, most)).contains(new.reads) {
            why.append("\(new.reads) reads, but the limit is \(most)")
        }
        self.init(
            name: "rank", network: network.rawValue,
            bar: "the same rank for a read for each 1,000 users above: \(most)", before: old,
            after: new, why: why)
    }
}
