import ArgumentParser
import Foundation

struct ChartsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "charts",
        abstract: "Draw the charts of a demo from its --json file.",
        discussion: """
            Reads a file of demo --json or of Benchmarks/Results. Writes reads.svg, \
            first-content.svg and memory.svg for the figures that the file has.
            """)

    @Argument(help: "The file with the figures.")
    var file: String

    @Option(help: "The folder to write to. It is created if it does not exist.")
    var svg: String

    func run() async throws {
        let json = try Data(contentsOf: URL(fileURLWithPath: file))
        let charts: DemoCharts
        do { charts = DemoCharts(data: try ChartData(kept: json)) } catch is DecodingError {
            throw ValidationError("\(file) has no figures of a demo.")
        }
        if charts.all.isEmpty { throw ValidationError("\(file) has no figures for a chart.") }
        try charts.write(to: URL(fileURLWithPath: svg))
        for (name, _) in charts.all { print("\(svg)/\(name)") }
    }
}
