import ArgumentParser
import Foundation

struct ChartsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "charts",
        abstract: "Draw the charts of a demo that was played: its file with --json.",
        discussion: """
            Takes a file of demo --json, or one of Benchmarks/Results. Writes reads.svg, \
            first-content.svg and memory.svg, as far as there are figures.
            """)

    @Argument(help: "The file with the figures.")
    var file: String

    @Option(help: "The folder to write to; made if it is missing.")
    var svg: String

    func run() async throws {
        let json = try Data(contentsOf: URL(fileURLWithPath: file))
        let charts: DemoCharts
        do { charts = DemoCharts(data: try ChartData(kept: json)) } catch is DecodingError {
            throw ValidationError("\(file) has no figures of a demo.")
        }
        if charts.all.isEmpty { throw ValidationError("\(file) has nothing to draw.") }
        try charts.write(to: URL(fileURLWithPath: svg))
        for (name, _) in charts.all { print("\(svg)/\(name)") }
    }
}
