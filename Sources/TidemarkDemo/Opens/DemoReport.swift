import Foundation
import Tidemark

/// The figures of a run, as a table and as JSON.
struct DemoReport: Sendable {
    let clients: [Tally]
    let bar: OpensBar
    let seconds: Double
    let history: HistoryFigure
    var predictions = OpenPredictions()
    /// The machine's speed during the run; nil if times are not judged.
    var speed: MachineSpeed?

    /// The failed requirements, as sentences; empty if all hold.
    var complaints: [String] {
        guard let tidemark = clients.last else { return [] }
        return bar.complaints(reads: tidemark.reads) + tidemark.complaints + predictions.complaints
    }

    var slow: [SlowTime] { bar.slow(seconds: seconds) }

    /// The description of the run, for the line above the table.
    var caption: String {
        let opens = clients.map(\.opens).max() ?? 0
        return "\(history.source): three clients open the feed \(opens) times while they happen."
    }

    var table: String {
        let head = [
            "client", "opens", "reads billed", "saved", "missed", "shown twice", "edits missed",
            "deleted shown", "bytes", "first content", slowest, "price",
        ]
        let rows = clients.map(cells)
        let widths = head.indices.map { column in
            ([head] + rows).map { $0[column].count }.max()!
        }
        func line(_ cells: [String]) -> String {
            zip(cells, widths).enumerated().map { index, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return index == 0 ? cell.0 + padding : padding + cell.0
            }.joined(separator: "  ")
        }
        let rule = widths.map { String(repeating: "-", count: $0) }.joined(separator: "  ")
        return ([line(head), rule] + rows.map(line)).joined(separator: "\n")
    }

    private func cells(_ tally: Tally) -> [String] {
        [
            tally.name, "\(tally.opens)", grouped(tally.reads),
            String(format: "%.1f %%", saved(tally) * 100), grouped(tally.difference.missed.count),
            grouped(tally.difference.doubled.count), grouped(tally.difference.outdated.count),
            grouped(tally.difference.deletedShown.count), grouped(tally.bytes),
            Self.time(tally.firstContents.share(0.5)),
            Self.time(SlowestTime(tally.firstContents)?.milliseconds),
            String(format: "$%.4f", price(tally)),
        ]
    }

    /// The heading of the column with the slowest first content. An open counts only if the client
    /// showed something before the server answered.
    private var slowest: String {
        let most = clients.map(\.firstContents.count).max() ?? 0
        return most >= SlowestTime.enough ? "p99" : "slowest"
    }

    private static func time(_ milliseconds: Double?) -> String {
        milliseconds.map { String(format: "%.1f ms", $0) } ?? "-"
    }

    /// Returns the share of the first client's reads that this client saved.
    func saved(_ tally: Tally) -> Double {
        guard let before = clients.first, before.reads > 0 else { return 0 }
        return 1 - Double(tally.reads) / Double(before.reads)
    }

    /// Returns the price in dollars, at the price that the apps of the journeys assumed.
    func price(_ tally: Tally) -> Double {
        ReadPrices.journeys.cost(ofReads: tally.reads)
    }
}
