import Foundation

/// The charts of a demo: the reads of an open, the time of the first content, and the memory while
/// paging.
struct DemoCharts {
    /// The maximum number of rows in a chart of pairs. Further scenarios are omitted.
    static let mostRows = 8

    let data: ChartData

    /// The charts for which there are figures, with the names of their files.
    var all: [(file: String, svg: String)] {
        [("reads.svg", reads), ("first-content.svg", firstContent), ("memory.svg", memory)]
            .compactMap { file, svg in svg.map { (file, $0) } }
    }

    /// The reads of the scenarios that begin with an open, on the healthy network or else on the
    /// first one.
    var reads: String? {
        var rows: [PairChart.Row] = []
        var names: Set<String> = []
        for scenario in good {
            guard let before = scenario.before["reads"], let after = scenario.after["reads"],
                scenario.before["upToDateMs"] != nil, before > 0, before != after,
                names.insert(scenario.name).inserted
            else { continue }
            rows.append(PairChart.Row(name: scenario.name, before: before, after: after))
        }
        if rows.isEmpty { return nil }
        return PairChart(
            title: "Documents billed for one use of a screen",
            note: "Upper bar: the app before. Lower bar: on Tidemark. Each row has its own scale.",
            scale: .share, rows: Array(rows.prefix(Self.mostRows)),
            words: { $0.map { "\(grouped(Int($0))) reads" } ?? "never" }
        ).svg
    }

    /// The time of a launch's first content, on each network.
    var firstContent: String? {
        let rows = data.scenarios.filter { $0.name == "launch" }.map {
            PairChart.Row(
                name: $0.network, before: $0.before["firstContentMs"],
                after: $0.after["firstContentMs"])
        }
        if rows.isEmpty { return nil }
        let ticks = [
            (1.0, "1 ms"), (10, "10 ms"), (100, "100 ms"), (1_000, "1 s"), (10_000, "10 s"),
        ]
        return PairChart(
            title: "From the launch to the first content, by network",
            note: """
                Medians on a logarithmic scale. Upper bar: the app before. Lower bar: on \
                Tidemark.
                """,
            scale: .logarithm(from: 1, to: 30_000, ticks: ticks),
            rows: Array(rows.prefix(Self.mostRows)),
            words: { $0.map { SummaryRow.time($0) } ?? "never" }
        ).svg
    }

    /// The memory of the app's process after each page.
    var memory: String? {
        for scenario in good {
            guard let before = scenario.before.row(MemoryRow.series),
                let after = scenario.after.row(MemoryRow.series)
            else { continue }
            return LineChart(
                title: "Memory while a conversation is paged to its end",
                note: "MiB of the process after each page; the same conversation is paged "
                    + "\(MemoryRow.passes) times over.",
                unit: "MiB", before: before, after: after
            ).svg
        }
        return nil
    }

    private var good: [ChartData.Scenario] {
        let healthy = data.scenarios.filter { $0.network == DemoNetwork.healthy.rawValue }
        let names = Set(healthy.map(\.name))
        return healthy + data.scenarios.filter { !names.contains($0.name) }
    }

    /// - Throws: An error if the folder or a file in it cannot be written.
    func write(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (file, svg) in all {
            try Data(svg.utf8).write(to: folder.appendingPathComponent(file), options: .atomic)
        }
    }
}

extension Double {
    /// The natural logarithm.
    var logarithm: Double { Foundation.log(self) }
}
