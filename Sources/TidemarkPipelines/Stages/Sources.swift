import TidemarkModel

/// A first stage that reads documents.
struct SourceStage: CompiledStage {
    let scan: PipelineScan
    /// The hints from conditions with variables of an outer row, which are known once a row is.
    let late: LateHints?

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        var scan = late?.scan(scan, outer.row.variables) ?? scan
        if case .subcollection(let path) = scan.origin {
            guard let parent = outer.row.name?.path,
                let collection = try? CollectionPath(parent.text + "/" + path)
            else { return EmptyStream() }
            scan.origin = .collection(collection)
        }
        let run = outer.run
        let open = try run.source.open(scan)
        var isNamed = false
        if case .documents = scan.origin { isNamed = true }
        return DocumentStream(open, outer, isNamed: isNamed)
    }
}

/// The documents of a source as rows.
final class DocumentStream: RowStream {
    let scan: OpenScan
    private let run: RunState
    private let variables: [Outcome]
    private let isNamed: Bool

    /// - Parameter isNamed: True if the documents are read by their names.
    init(_ scan: OpenScan, _ outer: Scope, isNamed: Bool) {
        (self.scan, run, variables) = (scan, outer.run, outer.row.variables)
        self.isNamed = isNamed
    }

    var isSorted: Bool { scan.isSorted }

    func next() throws(PipelineError) -> PipelineRow? {
        try run.step()
        guard let document = try scan.documents.next() else { return nil }
        run.read(document, isNamed: isNamed)
        var row = PipelineRow(document, in: run.context.database)
        row.variables = variables
        return row
    }
}

/// A first stage whose rows are in the pipeline itself.
struct LiteralsStage: CompiledStage {
    let rows: [CompiledExpression]

    func stream(
        over input: any RowStream, outer: Scope
    ) throws(PipelineError) -> any RowStream {
        var rest = rows[...]
        return GeneratedStream { () throws(PipelineError) in
            guard let next = rest.popFirst() else { return nil }
            try outer.run.step()
            guard case .map(let fields)? = try next.evaluate(outer).output() else {
                throw .invalid("literals expects maps.")
            }
            var row = PipelineRow(fields: fields)
            row.variables = outer.row.variables
            return row
        }
    }
}

/// Rows that a closure makes one at a time.
final class GeneratedStream: RowStream {
    private let make: () throws(PipelineError) -> PipelineRow?

    init(_ make: @escaping () throws(PipelineError) -> PipelineRow?) { self.make = make }

    func next() throws(PipelineError) -> PipelineRow? { try make() }
}
