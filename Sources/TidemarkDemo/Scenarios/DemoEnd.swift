import ArgumentParser
import Foundation

/// The end of a demo: files with its figures, what is wrong, and its exit code.
struct DemoEnd {
    /// Where the figures are written as JSON, and the charts of them as SVG.
    var json: String?
    var svg: String?
    /// Holds it to its times; nil for a demo whose times are remarks.
    var judge: TimeJudge?

    /// Writes the figures, and says of everything that does not hold, why.
    ///
    /// - Throws: A failure when something is wrong; where times are judged, also when one was too long, and
    ///   when the machine was too busy for figures that are kept.
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
