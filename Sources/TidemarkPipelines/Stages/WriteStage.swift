package import TidemarkModel

/// A change of a document that a pipeline asks for.
package enum PipelineWrite: Hashable, Sendable {
    case delete(DocumentPath)
    /// Replaces all fields. If the document must exist and does not, nothing is written.
    case replace(DocumentPath, MapValue, mustExist: Bool)
    /// Creates a document. An existing document is an error of code `alreadyExists`.
    case create(DocumentPath, MapValue)
}

/// The last stage of a pipeline that writes.
struct WriteStage: Sendable {
    let kind: WriteKind
    let transforms: [Alias]
    let collection: CollectionPath?
    let documentID: CompiledExpression?
}

/// Turns rows into writes.
struct WriteQueue {
    private let stage: WriteStage
    private let run: RunState
    private let memory: Reservation
    private var deleted: Set<DocumentPath> = []

    init(_ stage: WriteStage, _ run: RunState) {
        (self.stage, self.run) = (stage, run)
        memory = Reservation(run, stage: stage.kind.rawValue)
    }

    /// Returns nil for a document that is deleted already.
    mutating func write(of row: PipelineRow) throws(PipelineError) -> PipelineWrite? {
        let path = try target(of: row)
        switch stage.kind {
        case .delete:
            try memory.add(path.storageSize)
            return deleted.insert(path).inserted ? .delete(path) : nil
        case .insert: return .create(path, row.fields)
        case .update: return .replace(path, try fields(of: row), mustExist: true)
        case .upsert: return .replace(path, try fields(of: row), mustExist: false)
        }
    }

    private func fields(of row: PipelineRow) throws(PipelineError) -> MapValue {
        var fields = row.fields
        for (path, value) in try stage.transforms.values(row, run) { fields[path] = value }
        return fields
    }

    private func target(of row: PipelineRow) throws(PipelineError) -> DocumentPath {
        guard let collection = stage.collection ?? row.name?.path.parent else {
            throw .invalid("The stage \(stage.kind.rawValue) needs rows with a __name__.")
        }
        let id: String
        if let expression = stage.documentID {
            guard
                case .string(let text)? = try expression.evaluate(
                    Scope(row: row, run: run)
                ).output()
            else { throw .invalid("A document_id must be a string.") }
            id = text
        } else {
            id = row.name?.path.id ?? run.nextID()
        }
        do throws(InvalidPath) { return try collection.document(id) } catch {
            throw .invalid(error.message)
        }
    }
}
