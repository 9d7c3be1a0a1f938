import TidemarkModel
import TidemarkStore

/// The mutation queue as it is needed all the time: which documents have pending writes, and what
/// those make of them. A copy of the queue on disk, in memory.
struct PendingWrites: Equatable, Sendable {
    /// In order.
    private(set) var batches: [MutationBatch] = []
    /// By document: the ids of the batches that write it, in order.
    private var byPath: [DocumentPath: [Int64]] = [:]
    /// The overlays: what the pending writes make of a document. Made on demand, dropped when the
    /// writes or the document below them change.
    private var overlays: [DocumentPath: LocalDocument] = [:]

    var isEmpty: Bool { batches.isEmpty }

    func batch(_ id: Int64) -> MutationBatch? {
        let index = batches.partitioningIndex { $0.id >= id }
        return index < batches.count && batches[index].id == id ? batches[index] : nil
    }

    func batch(after id: Int64) -> MutationBatch? {
        let index = batches.partitioningIndex { $0.id > id }
        return index < batches.count ? batches[index] : nil
    }

    func hasWrites(_ path: DocumentPath) -> Bool { byPath[path] != nil }

    /// Documents with pending writes that could be rows of a query.
    func paths(in query: Query) -> [DocumentPath] {
        byPath.isEmpty ? [] : byPath.keys.filter(query.contains)
    }

    /// Those, told apart by what is known of them.
    struct Written {
        var count = 0
        /// The rows of the query among them.
        var rows: [LocalDocument] = []
        /// Those of which it was not worked out yet what the pending writes make of them.
        var unknown: [DocumentPath] = []

        fileprivate mutating func add(
            _ path: DocumentPath, _ overlay: LocalDocument?, _ query: PreparedQuery
        ) {
            count += 1
            guard let overlay else { return unknown.append(path) }
            if overlay.isRow(of: query) { rows.append(overlay) }
        }
    }

    /// One pass over the pending documents; where all is known, none is looked for.
    func written(in query: PreparedQuery) -> Written {
        var written = Written()
        if knowsAll {
            for (path, overlay) in overlays where query.query.contains(path) {
                written.add(path, overlay, query)
            }
        } else {
            for path in byPath.keys where query.query.contains(path) {
                written.add(path, overlays[path], query)
            }
        }
        return written
    }

    private var knowsAll: Bool {
        #if TIDEMARK_DEFECTS
            if keepsOverlays { return false }
        #endif
        return overlays.count == byPath.count
    }

    mutating func append(_ batch: MutationBatch) {
        precondition(batches.last.map { $0.id < batch.id } ?? true, "batch ids rise")
        batches.append(batch)
        for path in batch.paths {
            byPath[path, default: []].append(batch.id)
            overlays[path] = nil
        }
    }

    #if TIDEMARK_DEFECTS
        /// As if nobody made them anew: of a planted defect.
        var keepsOverlays = false

        /// Of a planted defect too.
        mutating func keepOverlays(of other: PendingWrites) {
            overlays.merge(other.overlays) { own, _ in own }
        }
    #endif

    mutating func remove(_ id: Int64) {
        guard let batch = batch(id) else { return }
        #if TIDEMARK_DEFECTS
            let kept = overlays
            defer { if keepsOverlays { overlays = kept } }
        #endif
        batches.remove(at: batches.partitioningIndex { $0.id >= id })
        for path in batch.paths {
            byPath[path]?.removeAll { $0 == id }
            if byPath[path]?.isEmpty == true { byPath[path] = nil }
            overlays[path] = nil
        }
    }

    /// To be called when a document's base changed.
    mutating func forgetOverlay(of path: DocumentPath) {
        if !overlays.isEmpty { overlays[path] = nil }
    }

    /// What the pending writes make of a document, where that was worked out already: it does not
    /// take the document below them.
    func overlay(of path: DocumentPath) -> LocalDocument? { overlays[path] }

    /// - Parameter newest: What the newest write sets the document to, where that is encoded already.
    mutating func view(
        of path: DocumentPath, over base: StoredDocument?, newest: EncodedFields? = nil
    ) -> LocalDocument {
        if let overlay = overlays[path] { return overlay }
        var document = base.map(LocalDocument.init) ?? LocalDocument(unknown: path)
        guard let ids = byPath[path] else { return document }
        for id in ids.dropLast() { batch(id)?.apply(to: &document) }
        if let last = ids.last { batch(last)?.apply(to: &document, setTo: newest) }
        overlays[path] = document
        return document
    }
}

extension Array {
    /// Of the first element that satisfies `isBeyond`, when all before it do not.
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
