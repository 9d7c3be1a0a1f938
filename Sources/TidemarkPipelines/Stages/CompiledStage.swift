import TidemarkModel

/// Rows of a stage, one at a time.
protocol RowStream: AnyObject {
    func next() throws(PipelineError) -> PipelineRow?
    /// True if the rows come from a source in the order that the scan proposed.
    var isSorted: Bool { get }
}

extension RowStream {
    var isSorted: Bool { false }
}

/// A stage whose arguments are checked.
protocol CompiledStage: Sendable {
    /// Returns the rows of the stage.
    ///
    /// - Parameters:
    ///   - input: The rows of the stage before; no rows for a first stage.
    ///   - outer: The row around a nested pipeline, and the run.
    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream
}

/// No rows.
final class EmptyStream: RowStream {
    func next() throws(PipelineError) -> PipelineRow? { nil }
}

/// Rows of a list.
final class ListStream: RowStream {
    private var rest: ArraySlice<PipelineRow>

    init(_ rows: [PipelineRow]) { rest = rows[...] }

    func next() throws(PipelineError) -> PipelineRow? { rest.popFirst() }
}

/// A stage that changes or drops rows one by one.
final class MappedStream: RowStream {
    typealias Change = (inout PipelineRow) throws(PipelineError) -> Bool

    private let input: any RowStream
    private let run: RunState
    private let change: Change

    var isSorted: Bool { input.isSorted }

    /// - Parameter change: Changes a row; false if the row is dropped.
    init(_ input: any RowStream, run: RunState, change: @escaping Change) {
        (self.input, self.run, self.change) = (input, run, change)
    }

    func next() throws(PipelineError) -> PipelineRow? {
        while var row = try input.next() {
            try run.step()
            if try change(&row) { return row }
        }
        return nil
    }
}

/// Rows that a closure makes when the first one is asked for.
final class DeferredStream: RowStream {
    private var make: (() throws(PipelineError) -> any RowStream)?
    private var rows: any RowStream = EmptyStream()

    init(_ make: @escaping () throws(PipelineError) -> any RowStream) { self.make = make }

    func next() throws(PipelineError) -> PipelineRow? {
        if let make {
            self.make = nil
            rows = try make()
        }
        return try rows.next()
    }
}

/// The stages of a pipeline, ready to run.
struct CompiledPipeline: Sendable {
    struct Named: Sendable {
        let name: String
        let stage: any CompiledStage
    }

    var stages: [Named] = []

    /// Returns the rows of a nested pipeline.
    func stream(outer: Scope) throws(PipelineError) -> any RowStream {
        var rows: any RowStream = EmptyStream()
        for named in stages { rows = try named.stage.stream(over: rows, outer: outer) }
        return rows
    }

    /// Returns the value of a subquery.
    func result(_ kind: CompiledExpression.Subquery, _ scope: Scope) -> Outcome {
        do throws(PipelineError) {
            let rows = try stream(outer: scope)
            switch kind {
            case .scalar:
                guard let row = try rows.next() else { return .null }
                if try rows.next() != nil {
                    return .error("Subpipeline returned multiple results.")
                }
                return .value(Self.unwrapped(row))
            case .array: return try Self.array(of: rows, scope)
            }
        } catch {
            // An error that ends a run ends the outer run, and not only this expression.
            if error.code != .invalidArgument { scope.run.interrupt(error) }
            return .error(error.message)
        }
    }

    private static func array(
        of rows: any RowStream, _ scope: Scope
    ) throws(PipelineError) -> Outcome {
        var values: [Value] = []
        let memory = Reservation(scope.run, stage: "array")
        while let row = try rows.next() {
            let value = unwrapped(row)
            try memory.add(row.size(upTo: scope.run.context.limits.valueBytes))
            values.append(value)
        }
        return Outcome.value(.array(values)).bounded(in: "array", scope)
    }

    /// A row of exactly one field is its value; others stay maps.
    private static func unwrapped(_ row: PipelineRow) -> Value {
        let fields = row.fields
        return fields.count == 1 ? fields[0].value : .map(fields)
    }
}
