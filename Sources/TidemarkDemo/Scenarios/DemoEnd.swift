import ArgumentParser
import Foundation

/// The end of a demo: it writes the files with the figures, prints the failures and sets the exit
/// code.
struct DemoEnd {
    /// The path of the JSON file with the figures, and the folder for their SVG charts.
    var json: String?
    var svg: String?
    /// The judge of the demo's times; nil if long times are only remarks.
    var judge: TimeJudge?

    /// Writes the figures, and prints the reason for each failed requirement.
    ///
    /// - Throws: `ExitCode.failure` if a requirement failed. If times are judged, also if a time
    ///   was too long, or if the machine was too busy to keep the figures.
    func conclude(_ figures: DemoFigures, _ output: DemoOutput) throws {
        if let refusal = judge?.refusal {
            output.result(refusal)
            throw ExitCode.failure
        }
        if let json {
            try figures.json().write(to: URL(fileURLWithPath: json), options: .atomic)
        }
        if let svg {
            let charts = DemoCharts(data: try ChartData(figures))
            try charts.write(to: URL(fileURLWithPath: svg))
            for (file, _) in charts.all { output.result("\(svg)/\(file)") }
        }
        for complaint in figures.complaints { output.complaint(complaint) }
        for remark in figures.remarks { output.detail(remark) }
        if fails(figures) { throw ExitCode.failure }
    }

    func fails(_ figures: DemoFigures) -> Bool {
        !figures.complaints.isEmpty || (judge != nil && !figures.remarks.isEmpty)
    }
}
