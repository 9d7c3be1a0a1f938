import TidemarkModel
import TidemarkStore

/// The mutation queue in the form that every read needs: the documents with pending writes, and how
/// those writes change them. It is a copy of the queue on disk, in memory.
struct PendingWrites: Equatable, Sendable {
    /// The batches, in order.
    private(set) var batches: [MutationBatch] = []
    /// The documents that the batches write.
    private var documents: [DocumentPath: PendingDocument] = [:]

    var isEmpty: Bool { batches.isEmpty }

    func batch(_ id: Int64) -> MutationBatch? {
        let index = batches.partitioningIndex { $0.id >= id }
        return index < batches.count && batches[index].id == id ? batches[index] : nil
    }

    func batch(after id: Int64) -> MutationBatch? {
        let index = batches.partitioningIndex { $0.id > id }
        return index < batches.count ? batches[index] : nil
    }

    func hasWrites(_ path: DocumentPath) -> Bool { documents[path]?.first != nil }

    /// Returns the documents with pending writes that could be rows of a query.
    func paths(in query: Query) -> [DocumentPath] {
        documents.lazy.filter { $0.value.first != nil && query.contains($0.key) }.map(\.key)
    }

    /// The documents with pending writes in a query's collection, divided into known and unknown
    /// ones.
    struct Written {
        var count = 0
        /// The documents that are rows of the query.
        var rows: [LocalDocument] = []
        /// The documents whose state after the pending writes was not computed yet.
        var unknown: [DocumentPath] = []

        fileprivate mutating func add(
            _ path: DocumentPath, overlay: LocalDocument?, query: PreparedQuery
        ) {
            count += 1
            guard let overlay else { return unknown.append(path) }
            if overlay.isRow(of: query) { rows.append(overlay) }
        }
    }

    /// Visits all pending documents once.
    func written(in query: PreparedQuery) -> Written {
        var written = Written()
        for (path, document) in documents
        where document.first != nil && query.query.contains(path) {
            written.add(path, overlay: document.overlay, query: query)
        }
        return written
    }

    mutating func append(_ batch: MutationBatch) {
        precondition(batches.last.map { $0.id < batch.id } ?? true, "batch ids rise")
        batches.append(batch)
        for path in batch.paths {
            documents[path, default: PendingDocument()].append(batch.id)
        }
    }

    #if TIDEMARK_DEFECTS
        /// A planted defect: true if the states after the writes are not computed again.
        var keepsOverlays = false

        /// Copies the states of another queue, also for a planted defect.
        mutating func keepOverlays(of other: PendingWrites) {
            for (path, document) in other.documents where document.overlay != nil {
                if documents[path]?.overlay != nil { continue }
                documents[path, default: PendingDocument()].overlay = document.overlay
            }
        }
    #endif

    mutating func remove(_ id: Int64) {
        guard let batch = batch(id) else { return }
        batches.remove(at: batches.partitioningIndex { $0.id >= id })
        for path in batch.paths {
            guard let index = documents.index(forKey: path) else { continue }
            documents.values[index].remove(id)
            #if TIDEMARK_DEFECTS
                if keepsOverlays { continue }
            #endif
            documents.values[index].overlay = nil
            if documents.values[index].first == nil { documents.remove(at: index) }
        }
    }

    /// Forgets the state after the writes; call this when a document's base changed.
    mutating func forgetOverlay(of path: DocumentPath) {
        guard let index = documents.index(forKey: path) else { return }
        documents.values[index].overlay = nil
    }

    /// Returns the state of a document after its pending writes, if it was computed already. It
    /// does not need the document below the writes.
    func overlay(of path: DocumentPath) -> LocalDocument? { documents[path]?.overlay }

    /// - Parameter newest: The contents to which the newest write sets the document, if they are
    ///   encoded already.
    mutating func view(
        of path: DocumentPath, over base: StoredDocument?, newest: EncodedFields? = nil
    ) -> LocalDocument {
        let index = documents.index(forKey: path)
        if let index, let overlay = documents.values[index].overlay { return overlay }
        var document = base.map(LocalDocument.init) ?? LocalDocument(unknown: path)
        guard let index, let first = documents.values[index].first else { return document }
        let later = documents.values[index].later
        if let last = later.last {
            batch(first)?.apply(to: &document)
            for id in later.dropLast() { batch(id)?.apply(to: &document) }
            batch(last)?.apply(to: &document, setTo: newest)
        } else {
            batch(first)?.apply(to: &document, setTo: newest)
        }
        documents.values[index].overlay = document
        return document
    }
}

/// A document that has pending writes.
private struct PendingDocument: Equatable {
    /// The first batch that writes the document, and usually the only one; nil only for a planted
    /// defect.
    private(set) var first: Int64?
    /// The other batches, in order.
    private(set) var later: [Int64] = []
    /// The state of the document after the batches. It is computed on demand, and dropped when the
    /// batches or the document below them change.
    var overlay: LocalDocument?

    mutating func append(_ id: Int64) {
        if first == nil { first = id } else { later.append(id) }
        overlay = nil
    }

    mutating func remove(_ id: Int64) {
        if first == id {
            first = later.isEmpty ? nil : later.removeFirst()
        } else {
            later.removeAll { $0 == id }
        }
    }
}

extension Array {
    /// Returns the index of the first element that satisfies `isBeyond`, if no element before it
    /// does.
    func partitioningIndex(_ isBeyond: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isBeyond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
