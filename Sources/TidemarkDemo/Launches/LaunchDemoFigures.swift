import Foundation

/// All that the launches came to.
struct LaunchDemoFigures: Sendable {
    var launches: [LaunchScenario<LaunchFigure>] = []
    var diagnoses: [LaunchScenario<DiagnosisFigure>] = []
    var ranks: [LaunchScenario<RankFigure>] = []
    var costs: [LaunchScenario<DiagnosisCost>] = []

    var scenarios: [any Encodable & Sendable] { launches + diagnoses + ranks + costs }

    /// Sentences; none when all holds.
    var complaints: [String] {
        let all =
            launches.map { ($0.holds, $0.name, $0.network, $0.bar) }
            + diagnoses.map { ($0.holds, $0.name, $0.network, $0.bar) }
            + ranks.map { ($0.holds, $0.name, $0.network, $0.bar) }
            + costs.map { ($0.holds, $0.name, $0.network, $0.bar) }
        return all.filter { !$0.0 }.map { _, name, network, bar in
            "\(name), \(network), does not hold: \(bar)."
        }
    }

    var table: String {
        [launchTable, diagnosisTable, rankLines, costLines].filter { !$0.isEmpty }
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
        let widths = [10, 7, 14, 11, 12, 14, 40]
        let head = [
            "network", "side", "first content", "p99", "live", "over deadline",
            "what the person sees",
        ]
        return [Self.row(head, widths)]
            + launches.flatMap { scenario in
                [("before", scenario.before), ("after", scenario.after)].map { side, figure in
                    let cells = [
                        scenario.network, side, Self.text(figure.firstContentMs, "nothing"),
                        Self.text(figure.firstContentP99Ms, "-"), Self.text(figure.liveMs, "no"),
                        Self.text(figure.overDeadlineMs, "-"),
                        figure.shown
                            + (side == "after" && !scenario.holds ? "  DOES NOT HOLD" : ""),
                    ]
                    return Self.row(cells, widths)
                }
            }
    }

    private var diagnosisTable: [String] {
        let widths = [10, 18, 10, 60]
        let head = ["network", "launch held up", "found in", "what the doctor says"]
        return [Self.row(head, widths)]
            + diagnoses.map { scenario in
                let found = scenario.after
                let cells = [
                    scenario.network, Self.text(scenario.before.heldUpMs, "for good") + " before",
                    Self.text(found.tookMs, "-"),
                    "\(found.verdict ?? "-"): \(found.message ?? "")"
                        + (scenario.holds ? "" : "  DOES NOT HOLD"),
                ]
                return Self.row(cells, widths)
            }
    }

    private var rankLines: [String] {
        ranks.map { scenario in
            let (before, after) = (scenario.before, scenario.after)
            return """
                rank on \(scenario.network): \(after.rank) for \(grouped(after.reads)) reads, \
                \(before.rank) for \(grouped(before.reads)) before\
                \(scenario.holds ? "" : "  DOES NOT HOLD")
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
                before.percent, scenario.holds ? "" : "  DOES NOT HOLD")
        }
    }
}

/// What launches on one network came to.
struct LaunchFigure: Encodable, Sendable {
    static let bar =
        "first content p99 at most 20 ms\(Bar.remark), "
        + "no read over its deadline by more than 50 ms, a way on"

    /// The median; nil for nothing as long as anybody looked.
    var firstContentMs: Double?
    var firstContentP99Ms: Double?
    /// Of it, until client, cache and session were there; the median.
    var openedMs: Double?
    /// To what the server holds; nil when it was not reached.
    var liveMs: Double?
    /// Until the diagnosis was answered that comes first in the app as it was; nil for never.
    var diagnosisMs: Double?
    /// By how much a read with a deadline of 500 ms was late.
    var overDeadlineMs: Double?
    /// The last thing that the person was shown.
    var shown = "nothing"
    var isUsable = false
    /// Items of the first content.
    var items = 0

    var holds: Bool {
        guard let first = firstContentP99Ms, let over = overDeadlineMs else { return false }
        let isInTime = !Bar.isRelease || first <= 20
        return isInTime && over <= 50 && isUsable && items > 0
    }
}

/// How long a launch takes until it is live, with a diagnosis and without: medians.
struct DiagnosisCost: Encodable, Sendable {
    static let bar = "the launch is less than 5 % longer with a diagnosis\(Bar.remark)"

    var holds: Bool { !Bar.isRelease || percent < 5 }

    let withMs: Double
    let withoutMs: Double

    init(with: [Double], without: [Double]) {
        withMs = with.sorted()[with.count / 2]
        withoutMs = without.sorted()[without.count / 2]
    }

    var percent: Double { (withMs / withoutMs - 1) * 100 }
}
