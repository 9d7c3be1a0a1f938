import TidemarkModel
import TidemarkStore

/// The mutation queue in the form that every read needs: the documents with pending writes, and how
/// those writes change them. It is a copy of the queue on disk, in memory.
struct PendingWrites: Sendable {
    /// The batches, in order.
    private(set) var batches: [WaitingBatch] = []
    /// The batches that may be sent, in the order of sending.
    private var ready: [ReadyBatch] = []
    /// The number of batches with a turn.
    private var turnCount = 0
    /// The number of held batches.
    private var heldCount = 0
    /// The documents that the batches write.
    private var documents: [DocumentPath: PendingDocument] = [:]

    init() {}

    /// - Parameter batches: The batches, in order.
    init(_ batches: [WaitingBatch]) {
        self.batches = batches
        documents.reserveCapacity(batches.count)
        for batch in batches { note(batch) }
    }

    var isEmpty: Bool { batches.isEmpty }

    /// Returns a batch with its mutations, which this call decodes.
    func batch(_ id: Int64) -> MutationBatch? { index(of: id).map { batches[$0].decoded } }

    func contains(_ id: Int64) -> Bool { index(of: id) != nil }

    private func index(of id: Int64) -> Int? {
        let index = batches.partitioningIndex { $0.id >= id }
        return index < batches.count && batches[index].id == id ? index : nil
    }

    /// Returns the batch to send after the batch with this number, or the first one; nil if no
    /// batch can be sent.
    func batch(toSendAfter id: Int64?) -> MutationBatch? {
        let turn = id.map { self.turn($0) } ?? 0
        let index = ready.partitioningIndex { $0.turn > turn }
        return index < ready.count ? batch(ready[index].id) : nil
    }

    private func turn(_ id: Int64) -> Int64 {
        index(of: id).map { batches[$0].order } ?? id
    }

    /// Returns the turn of a batch that waits, or has waited, for files.
    func turn(of id: Int64) -> BatchTurn? {
        if turnCount == 0 { return nil }
        return index(of: id).flatMap { batches[$0].turn }
    }

    /// True if a batch waits, or has waited, for files.
    var hasTurns: Bool { turnCount > 0 }

    /// True if a batch waits for files, or behind such a batch.
    var hasHeld: Bool { heldCount > 0 }

    /// The turns of the batches that wait, or have waited, for files.
    var turns: [Int64: BatchTurn] {
        if turnCount == 0 { return [:] }
        return Dictionary(
            uniqueKeysWithValues: batches.compactMap { batch in batch.turn.map { (batch.id, $0) } })
    }

    func isHeld(_ id: Int64) -> Bool {
        if heldCount == 0 { return false }
        return index(of: id).map { batches[$0].isHeld } ?? false
    }

    /// Returns the held batches whose documents no earlier held batch writes.
    ///
    /// - Parameters:
    ///   - candidates: The batches that wait for no file, in order.
    ///   - gone: Batches that leave the queue in the same step.
    func free(_ candidates: [Int64], without gone: [Int64]) -> [Int64] {
        var free: Set<Int64> = []
        return candidates.filter { id in
            guard let index = index(of: id), batches[index].isHeld, !gone.contains(id) else {
                return false
            }
            let isBlocked = batches[index].paths.contains { path in
                documents[path]!.hasBatch { earlier in
                    earlier < id && isHeld(earlier) && !gone.contains(earlier)
                        && !free.contains(earlier)
                }
            }
            if !isBlocked { free.insert(id) }
            return !isBlocked
        }
    }

    /// Returns true if a batch without a turn writes one of the documents. A later batch on them
    /// must not be sent first.
    func holds(anyOf paths: [DocumentPath]) -> Bool {
        if heldCount == 0 { return false }
        return paths.contains { path in
            documents[path]?.hasBatch(where: isHeld) ?? false
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
        guard let index = index(of: batch.id), batches[index].paths == batch.paths else {
            preconditionFailure("the batch is in the queue and writes the same documents")
        }
        batches[index] = WaitingBatch(batch, turn: batches[index].turn)
        for path in batch.paths { forgetOverlay(of: path) }
    }

    /// Gives a held batch its turn, which is larger than all others.
    mutating func release(_ id: Int64, turn: Int64) {
        precondition(ready.last.map { $0.turn < turn } ?? true, "turns rise")
        guard let index = index(of: id), batches[index].isHeld else {
            preconditionFailure("the batch is held")
        }
        batches[index].turn = .number(turn)
        heldCount -= 1
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
        let batch = WaitingBatch(batch, turn: turn)
        batches.append(batch)
        note(batch)
    }

    /// Notes the facts about a new batch.
    private mutating func note(_ batch: WaitingBatch) {
        if batch.turn != nil { turnCount += 1 }
        if batch.isHeld {
            heldCount += 1
        } else {
            let entry = ReadyBatch(turn: batch.order, id: batch.id)
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
        guard let index = index(of: id) else { return }
        let turn = self.turn(id)
        let batch = batches.remove(at: index)
        if batch.isHeld {
            heldCount -= 1
        } else {
            ready.remove(at: ready.partitioningIndex { $0.turn >= turn })
        }
        if batch.turn != nil { turnCount -= 1 }
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
            decode(first)?.apply(to: &document)
            for id in later.dropLast() { decode(id)?.apply(to: &document) }
            decode(last)?.apply(to: &document, setTo: newest)
        } else {
            decode(first)?.apply(to: &document, setTo: newest)
        }
        documents.values[index].overlay = document
        return document
    }

    /// Returns a batch, and keeps its decoded mutations: each further write to the document needs
    /// them again.
    private mutating func decode(_ id: Int64) -> MutationBatch? {
        index(of: id).map { batches[$0].decode() }
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

    func hasBatch(where isMatch: (Int64) -> Bool) -> Bool {
        first.map(isMatch) == true || later.contains(where: isMatch)
    }

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
