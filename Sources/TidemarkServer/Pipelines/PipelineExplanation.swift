import TidemarkModel
import TidemarkPipelines

/// The explanation of a pipeline, as text or JSON. Production's form is not documented: this one is
/// Tidemark's.
struct PipelineExplanation {
    /// A stage with its rows; nil if the pipeline has not run.
    struct Stage: Hashable {
        let name: String
        let rows: Int?
        let detail: String
        /// The time of the stage itself; nil if the pipeline has not run.
        var duration: Duration?
    }

    /// The figures of a run.
    struct Run: Hashable {
        let rows: Int
        let documentsRead: Int
        let bytesRead: Int
        /// The bytes read in units of 4 KiB, in which the Enterprise edition is billed.
        let readUnits: Int
        let duration: Duration
    }

    let stages: [Stage]
    /// The figures of the run; nil if the pipeline has not run.
    let run: Run?

    func text(isJSON: Bool) -> String { isJSON ? json : plain }

    private var plain: String {
        var lines: [String] = []
        if let run {
            lines += [
                "Execution:", "  results returned: \(run.rows)",
                "  documents read: \(run.documentsRead)", "  bytes read: \(run.bytesRead)",
                "  read units: \(run.readUnits)",
                "  time: \(run.duration.milliseconds) ms", "",
            ]
        }
        lines.append(run == nil ? "Plan:" : "Stages:")
        for stage in stages {
            let rows = stage.rows.map { ": \($0) \($0 == 1 ? "row" : "rows")" } ?? ""
            let detail = stage.detail.isEmpty ? "" : " (\(stage.detail))"
            let time = stage.duration.map { ", \($0.milliseconds) ms" } ?? ""
            lines.append("  \(stage.name)\(rows)\(time)\(detail)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var json: String {
        var members: JSONObject = [
            "stages": .list(
                JSONList(
                    stages.map { stage in
                        var members: JSONObject = ["name": .text(stage.name)]
                        if let rows = stage.rows { members["rows"] = .integer(Int64(rows)) }
                        if !stage.detail.isEmpty { members["detail"] = .text(stage.detail) }
                        if let time = stage.duration {
                            members["milliseconds"] = .number(time.milliseconds)
                        }
                        return .object(members)
                    }))
        ]
        if let run {
            members["execution"] = .object([
                "results_returned": .integer(Int64(run.rows)),
                "documents_read": .integer(Int64(run.documentsRead)),
                "bytes_read": .integer(Int64(run.bytesRead)),
                "read_units": .integer(Int64(run.readUnits)),
                "milliseconds": .number(run.duration.milliseconds),
            ])
        }
        return String(
            decoding: JSONWriter.bytes(of: .object(members), isSorted: true), as: UTF8.self)
    }
}

extension Duration {
    /// The milliseconds with three digits after the point.
    fileprivate var milliseconds: Double {
        let (seconds, attoseconds) = components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        return Double(microseconds) / 1_000
    }
}
