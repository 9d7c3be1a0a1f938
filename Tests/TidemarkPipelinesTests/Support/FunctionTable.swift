import Testing
import TidemarkModel

@testable import TidemarkPipelines

/// Checks lines such as `add(1, 2) => 3`. A line may expect `absent`, `error`, or an error with a
/// text: `error 'division by zero'`. The values `1` and `1.0` are different results here.
///
/// Returns the names of the functions that the table calls at the top.
@discardableResult
func check(
    _ table: String, row: MapValue = [:],
    sourceLocation: SourceLocation = #_sourceLocation
) -> Set<String> {
    var names: Set<String> = []
    for line in table.split(separator: "\n") where !line.hasPrefix("//") {
        let parts = line.split(separator: " => ")
        precondition(parts.count == 2, "\(line) is no line of a table")
        names.insert(String(parts[0].prefix { $0 != "(" }))
        let found = evaluate(ExpressionText.parse(String(parts[0])), row)
        #expect(
            found.fits(parts[1]), "\(parts[0]) is \(found.text), not \(parts[1])",
            sourceLocation: sourceLocation)
    }
    return names
}

let testDatabase = try! DatabaseID(project: "p")

func testContext(limits: PipelineLimits = .production, seed: UInt64 = 1) -> PipelineContext {
    PipelineContext(
        database: testDatabase, now: Timestamp(seconds: 1_800_000_000, nanoseconds: 0), seed: seed,
        limits: limits)
}

/// Evaluates an expression for one row.
func evaluate(_ expression: Pipeline.Expression, _ row: MapValue) -> Outcome {
    let environment = Environment(
        database: testDatabase, limits: .production, findings: Findings())
    do throws(PipelineError) {
        let run = RunState(source: ListSource([]), context: testContext())
        let scope = Scope(row: PipelineRow(fields: row), run: run)
        return try environment.compile(expression).evaluate(scope)
    } catch {
        return .error("invalid: " + error.message)
    }
}

extension Outcome {
    /// True if this is what a line of a table expects.
    fileprivate func fits(_ expected: Substring) -> Bool {
        if expected.hasPrefix("error") {
            guard case .error(let message) = self else { return false }
            let text = expected.split(separator: "'").dropFirst().first
            return text.map { message.contains($0) } ?? true
        }
        if expected == "absent" { return isAbsent }
        return text == evaluate(ExpressionText.parse(String(expected)), [:]).text
    }

    var text: String {
        switch self {
        case .absent: "absent"
        case .value(let value): value.canonicalID
        case .error(let message): "error: " + message
        }
    }
}
