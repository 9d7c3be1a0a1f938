package import Foundation

extension ReadsReport {
    /// The report as JSON with sorted names. It has all lines.
    package var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let output = ReportOutput(
            verdict: comparison.verdict.rawValue, reads: comparison.reads,
            recorded: comparison.allowed, same: comparison.same,
            grown: comparison.grown.map(ReportOutput.Line.init),
            shrunk: comparison.shrunk.map(ReportOutput.Line.init),
            moved: comparison.moved.map(ReportOutput.Line.init))
        // JSON can represent all texts and numbers.
        return ((try? encoder.encode(output)) ?? Data()) + Data("\n".utf8)
    }
}

private struct ReportOutput: Encodable {
    var format = ReadsFile.format
    let verdict: String
    let reads, recorded, same: Int
    let grown, shrunk, moved: [Line]

    struct Line: Encodable {
        let label, call, target, query: String
        let change: Int
        let before: Before?
        let after: After?
        let insteadOf: String?
        let advice: [String]

        init(_ difference: ReadsComparison.Difference) {
            let key = difference.key
            (label, call, target, query) = (key.label, key.call, key.target, key.query)
            change = difference.change
            before = difference.kept.map(Before.init)
            after = difference.seen.map(After.init)
            insteadOf = difference.replaced.map { "\($0.label) \($0.summary)" }
            advice = difference.change > 0 ? ReadAdvice.advice(on: difference) : []
        }
    }

    struct Before: Encodable {
        let least, most, calls, resumed: Int
        let limit: Int?
        let reason: String?

        init(_ line: KeptLine) {
            (least, most, calls, resumed) = (line.least, line.most, line.calls, line.resumed)
            (limit, reason) = (line.limit, line.reason)
        }
    }

    struct After: Encodable {
        let reads, calls, resumed: Int
        let limit: Int?
        let largestCall: String
        let indexes: [String]

        init(_ line: RunLine) {
            (reads, calls, resumed, limit) = (line.reads, line.calls, line.resumed, line.limit)
            (largestCall, indexes) = (line.example, line.indexes)
        }
    }
}
