package import Foundation
import TidemarkModel

extension ReadsReport {
    /// The report as JSON with sorted names. It has all lines.
    package var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let isByUnits = comparison.edition.isBilledByUnits
        let output = ReportOutput(
            edition: isByUnits ? comparison.edition.rawValue : nil,
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
    var format = 1
    let edition: String?
    let verdict: String
    let reads, recorded, same: Int
    let grown, shrunk, moved: [Line]

    struct Line: Encodable {
        let label, call, target, query: String
        let change: Int
        /// The changes of units; absent where they do not change.
        let readUnitsChange, updateUnitsChange: Int?
        let before: Before?
        let after: After?
        let insteadOf: String?
        let advice: [String]

        init(_ difference: ReadsComparison.Difference) {
            let key = difference.key
            (label, call, target, query) = (key.label, key.call, key.target, key.query)
            change = difference.change
            func units(_ measure: ReadMeasure) -> Int? {
                let change = difference.change(of: measure)
                return change == 0 ? nil : change
            }
            (readUnitsChange, updateUnitsChange) = (units(.readUnits), units(.updateUnits))
            before = difference.kept.map(Before.init)
            after = difference.seen.map(After.init)
            insteadOf = difference.replaced.map { "\($0.label) \($0.summary)" }
            advice = difference.hasGrown ? ReadAdvice.advice(on: difference) : []
        }
    }

    struct Before: Encodable {
        let least, most, calls, resumed: Int
        let limit: Int?
        let reason: String?
        let readUnits, updateUnits: Range?

        struct Range: Encodable {
            let least, most: Int

            init(_ range: ClosedRange<Int>) { (least, most) = (range.lowerBound, range.upperBound) }
        }

        init(_ line: KeptLine) {
            (least, most, calls, resumed) = (line.least, line.most, line.calls, line.resumed)
            (limit, reason) = (line.limit, line.reason)
            readUnits = line.readUnits.map(Range.init)
            updateUnits = line.updateUnits.map(Range.init)
        }
    }

    struct After: Encodable {
        let reads, calls, resumed: Int
        let readUnits, updateUnits: Int?
        let limit: Int?
        let largestCall: String
        let indexes: [String]

        init(_ line: RunLine) {
            (reads, calls, resumed, limit) = (line.reads, line.calls, line.resumed, line.limit)
            (largestCall, indexes) = (line.example, line.indexes)
            readUnits = line.units.isZero ? nil : line.units.read
            updateUnits = line.units.isZero ? nil : line.units.realtimeUpdate
        }
    }
}
