import TidemarkModel
import TidemarkPipelines
import TidemarkStore

/// The documents of a database as of a time, for a pipeline. Documents are read one by one, as the
/// pipeline asks for them.
///
/// The store applies the scan's filter where it can, and its order where an index gives it. It
/// never sorts: the pipeline does that, within its bound of memory.
struct ScopedPipelineSource: PipelineSource {
    let scope: ReadScope

    func open(_ scan: PipelineScan) throws(PipelineError) -> OpenScan {
        if let index = scan.forceIndex, index != "primary" {
            throw PipelineError(.invalidArgument, "Invalid index: \(index)")
        }
        if case .documents(let paths) = scan.origin {
            return OpenScan(
                documents: NamedDocuments(scope, paths), description: "documents by name")
        }
        guard let query = scan.origin.query else {
            throw PipelineError(.internal, "A subcollection was not resolved.")
        }
        return try storing { () throws in try rows(of: query, scan) }
    }

    private func rows(of whole: Query, _ scan: PipelineScan) throws -> OpenScan {
        var undos: [ChangeLog.Undo] = []
        if let past = scope.past {
            undos = try past.undos(after: scope.readTime) { whole.contains($0) }
        }
        var hinted = whole
        if scan.forceIndex == nil {
            hinted.filter = scan.filter
            // Changes that are undone lie anywhere in the order.
            if undos.isEmpty { hinted.orders = scan.orders }
        }
        guard let rows = try scope.table.rows(hinted) ?? scope.table.rows(whole) else {
            throw RPCStatus(.internal, "A whole collection cannot be read.")
        }
        let isSorted = !scan.orders.isEmpty && hinted.orders == scan.orders && rows.isInOrder
        let documents: any PipelineDocuments =
            undos.isEmpty ? StoredDocumentsInOrder(rows) : PastDocuments(rows, undoing: undos)
        return OpenScan(documents: documents, isSorted: isSorted, description: rows.plan)
    }
}

/// Runs a read of the store for a pipeline, whose errors have another type.
private func storing<T>(_ body: () throws -> T) throws(PipelineError) -> T {
    do { return try body() } catch {
        let status = RPCStatus(storeFailure: error)
        throw PipelineError(status.code, status.message)
    }
}

/// Existing documents among named ones, in the order of the names.
private final class NamedDocuments: PipelineDocuments {
    private let scope: ReadScope
    private var rest: ArraySlice<DocumentPath>

    init(_ scope: ReadScope, _ paths: [DocumentPath]) {
        self.scope = scope
        rest = paths[...]
    }

    func next() throws(PipelineError) -> Document? {
        while let path = rest.popFirst() {
            if let document = try storing({ () throws in try scope.document(at: path) }) {
                return document
            }
        }
        return nil
    }
}

/// The present documents of a scan.
private final class StoredDocumentsInOrder: PipelineDocuments {
    private let rows: QueryRows

    init(_ rows: QueryRows) { self.rows = rows }

    func next() throws(PipelineError) -> Document? {
        try storing { () throws in
            while let stored = try rows.next() {
                if let document = stored.document { return document }
            }
            return nil
        }
    }
}

/// The documents of a scan as of a past time: the present rows without the changed documents, then
/// the changed documents as they were.
private final class PastDocuments: PipelineDocuments {
    private let rows: QueryRows
    private let changed: Set<DocumentPath>
    private var before: ArraySlice<Document>

    init(_ rows: QueryRows, undoing undos: [ChangeLog.Undo]) {
        self.rows = rows
        changed = Set(undos.map(\.path))
        before = undos.compactMap(\.previous).sorted { $0.path < $1.path }[...]
    }

    func next() throws(PipelineError) -> Document? {
        try storing { () throws in
            while let stored = try rows.next() {
                if let document = stored.document, !changed.contains(document.path) {
                    return document
                }
            }
            return before.popFirst()
        }
    }
}
