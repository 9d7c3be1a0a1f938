import TidemarkModel
import TidemarkStore

/// The mutation queue in the form that every read needs: the documents with pending writes, and how
/// those writes change them. It is a copy of the queue on disk, in memory.
struct PendingWrites: Equatable, Sendable {
    /// The batches, in order.
    private(set) var batches: [MutationBatch] = []
    /// The batches that may be sent, in the order of sending.
    private var ready: [ReadyBatch] = []
    /// The turns of the batches that wait, or have waited, for files.
    private(set) var turns: [Int64: BatchTurn] = [:]
    /// The documents that the batches write.
    private var documents: [DocumentPath: PendingDocument] = [:]

    var isEmpty: Bool { batches.isEmpty }

    func batch(_ id: Int64) -> MutationBatch? {
        let index = batches.partitioningIndex { $0.id >= id }
        return index < batches.count && batches[index].id == id ? batches[index] : nil
    }

    /// Returns the batch to send after the batch with this number, or the first one; nil if no
    /// batch can be sent.
    func batch(toSendAfter id: Int64?) -> MutationBatch? {
        let turn = id.map { self.turn($0) } ?? 0
        let index = ready.partitioningIndex { $0.turn > turn }
        return index < ready.count ? batch(ready[index].id) : nil
    }

    private func turn(_ id: Int64) -> Int64 {
        if case .number(let turn)? = turns[id] { turn } else { id }
    }

    /// The batches that wait for files, or behind such a batch, in order.
    var held: [MutationBatch] {
        if turns.isEmpty { return [] }
        return batches.filter { isHeld($0.id) }
    }

    func isHeld(_ id: Int64) -> Bool {
        switch turns[id] {
        case .awaitsFiles, .isBehind: true
        case .number, nil: false
        }
    }

    /// Returns the held batches that wait for no file, and whose documents no earlier held batch
    /// writes.
    ///
    /// - Parameter gone: Batches that leave the queue in the same step.
    func free(without gone: [Int64], awaitingFiles awaited: Set<Int64>) -> [Int64] {
        var blocked: Set<DocumentPath> = []
        var free: [Int64] = []
        for batch in held where !gone.contains(batch.id) {
            if awaited.contains(batch.id) || batch.paths.contains(where: blocked.contains) {
                blocked.formUnion(batch.paths)
            } else {
                free.append(batch.id)
            }
        }
        return free
    }

    /// Returns true if a batch without a turn writes one of the documents. A later batch on them
    /// must not be sent first.
    func holds(anyOf paths: [DocumentPath]) -> Bool {
        if turns.isEmpty { return false }
        return paths.contains { path in
            documents[path].map { $0.batches.contains(where: isHeld) } ?? false
        }
    }

    /// Returns the values that the pending writes give to a field, oldest first.
    func values(of field: FieldPath, in path: DocumentPath) -> [Value] {
        let ids = documents[path]?.batches ?? []
        return ids.compactMap { batch($0) }.flatMap(\.mutations).compactMap { mutation in
            guard mutation.path == path else { return nil }
            switch mutation.operation {
            case .set(let fields), .patch(let fields, _): return fields[field]
            case .delete, .verify: return nil
            }
        }
    }

    /// Replaces a batch by one with the same number, which writes the same documents.
    mutating func replace(_ batch: MutationBatch) {
        let index = batches.partitioningIndex { $0.id >= batch.id }
        precondition(batches[index].paths == batch.paths)
        batches[index] = batch
        for path in batch.paths { forgetOverlay(of: path) }
    }

    /// Gives a held batch its turn, which is larger than all others.
    mutating func release(_ id: Int64, turn: Int64) {
        precondition(ready.last.map { $0.turn < turn } ?? true, "turns rise")
        turns[id] = .number(turn)
        ready.append(ReadyBatch(turn: turn, id: id))
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

    /// - Parameter turn: The turn of a batch that waits, or has waited, for files.
    mutating func append(_ batch: MutationBatch, turn: BatchTurn? = nil) {
        precondition(batches.last.map { $0.id < batch.id } ?? true, "batch ids rise")
        batches.append(batch)
        if let turn { turns[batch.id] = turn }
        if !isHeld(batch.id) {
            let entry = ReadyBatch(turn: self.turn(batch.id), id: batch.id)
            ready.insert(entry, at: ready.partitioningIndex { $0.turn > entry.turn })
        }
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
        if !isHeld(id) {
            let turn = self.turn(id)
            ready.remove(at: ready.partitioningIndex { $0.turn >= turn })
        }
        turns[id] = nil
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

/// A batch that may be sent, and its place in the order of sending.
private struct ReadyBatch: Equatable {
    let turn: Int64
    let id: Int64
}

/// A document that has pending writes.
private struct PendingDocument: Equatable {
    /// The first batch that writes the document, and usually the only one; nil only for a planted
    /// defect.
    private(set) var first: Int64?
    /// The other batches, in order.
    private(set) var later: [Int64] = []
    var batches: [Int64] { (first.map { [$0] } ?? []) + later }
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
