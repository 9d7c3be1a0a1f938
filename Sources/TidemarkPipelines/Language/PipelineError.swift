package import TidemarkModel

/// The reason why a pipeline cannot run, or cannot continue: a gRPC code and a sentence.
package struct PipelineError: Error, Hashable, Sendable {
    package let code: RPCStatus.Code
    package let message: String

    package init(_ code: RPCStatus.Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The error as the result of a call.
    package var status: RPCStatus { RPCStatus(code, message) }

    static func invalid(_ message: String) -> PipelineError {
        PipelineError(.invalidArgument, message)
    }

    /// Returns the error for an argument of a wrong kind, in production's words.
    static func expected(
        _ kind: String, for argument: String, but found: Pipeline.Expression
    ) -> PipelineError {
        .invalid("Expected \(argument) to be \(kind), but was \(found.kindName).")
    }
}

/// The bounds of a pipeline and of its run. A pipeline beyond a bound is refused with a sentence
/// that names the bound.
package struct PipelineLimits: Hashable, Sendable {
    /// The maximum number of stages, those of nested pipelines included.
    package var stages = 200
    /// The maximum nesting of expressions, nested pipelines included.
    package var depth = 100
    /// The maximum nesting of subqueries, as in production.
    package var subqueryDepth = 20
    /// The maximum number of expressions of a pipeline, constants included.
    package var expressions = 100_000
    /// The maximum number of variables.
    package var variables = 100
    /// The maximum size of the rows that a run holds, in bytes of Firestore's storage size:
    /// 128 MiB, as in production.
    package var bytes = 134_217_728
    /// The maximum number of steps of a regular expression for one value.
    package var patternSteps = 1_000_000
    /// The maximum size of one value that a function makes, and of one row: 16 MiB, in bytes of
    /// Firestore's storage size.
    package var valueBytes = 16_777_216
    /// The maximum number of steps of a run: rows that pass a stage, calls of functions, and
    /// elements that a function evaluates an expression for.
    package var steps = 1_000_000_000

    package init() {}

    package static let production = PipelineLimits()
}
