/// An entry of an index before it is in the file.
struct IndexEntry {
    let key: [UInt8]
    /// The document's.
    let row: Int64
}

/// The entries of one index for the next documents of one collection, on their way into the file.
///
/// Documents are read in the order they lie in the file, and entries written in the order of their
/// keys: both ways each page is touched once, and not once for each document. That takes several
/// transactions, in which documents change: a changed one is indexed with its change and left out
/// here. A batch that is lost before its end leaves entries behind; they are overwritten by the
/// next one, or deleted with the change of their document.
final class EntryBatch {
    enum Stage { case listing, reading, writing, done }

    let index: Int64
    let collection: Int64
    private(set) var stage = Stage.listing
    /// The last name it has documents through, by which it will be known how far the index is.
    private(set) var through: [UInt8] = []
    private var rows: [Int64] = []
    private var nextRow = 0
    private var entries = SortedRuns()
    private var entryBytes = 0
    private var changed: Set<Int64> = []

    /// Documents of one batch: what is sorted in a few milliseconds.
    static let capacity = 50_000
    /// Entries beyond this are written before more documents are read.
    private static let maxEntryBytes = 16 << 20
    /// Past this many changes, the batch is given up for a new one.
    private static let maxChanges = 10_000

    init(index: Int64, collection: Int64) {
        self.index = index
        self.collection = collection
    }

    // MARK: Listing

    /// How many documents it still takes.
    var room: Int { Self.capacity - rows.count }

    func list(_ row: Int64, _ name: [UInt8]) {
        rows.append(row)
        through = name
    }

    /// - Returns: False when there are none.
    func endListing() -> Bool {
        precondition(stage == .listing)
        rows.sort()
        stage = rows.isEmpty ? .done : .reading
        return !rows.isEmpty
    }

    // MARK: Reading

    /// The next document to be read; nil when it is time to write.
    func takeRow() -> Int64? {
        precondition(stage == .reading)
        while nextRow < rows.count, entryBytes < Self.maxEntryBytes {
            nextRow += 1
            if !changed.contains(rows[nextRow - 1]) { return rows[nextRow - 1] }
        }
        stage = .writing
        return nil
    }

    func add(_ read: [IndexEntry]) {
        entryBytes += read.reduce(0) { $0 + $1.key.count + 64 }
        entries.add(read)
    }

    // MARK: Writing

    /// The next entry to be written; nil when more is to be read, or nothing.
    func takeEntry() -> IndexEntry? {
        precondition(stage == .writing)
        while let entry = entries.popLeast() {
            if !changed.contains(entry.row) { return entry }
        }
        entries = SortedRuns()
        entryBytes = 0
        stage = nextRow < rows.count ? .reading : .done
        return nil
    }

    // MARK: Changes

    /// Whether the document is one that the index will have with this batch.
    func holds(_ collection: Int64, _ name: [UInt8]) -> Bool {
        collection == self.collection && !KeyRange.precedes(through, name)
    }

    /// Its entries are in the file now.
    ///
    /// - Returns: False when that is no longer worth remembering.
    func leaveOut(_ row: Int64) -> Bool {
        changed.insert(row)
        return changed.count <= Self.maxChanges
    }
}

/// Sorted runs of entries as one, which is sorted a run at a time: no step takes long.
struct SortedRuns {
    private var runs: [(entries: [IndexEntry], next: Int)] = []
    /// Whether `runs` is a heap by their next entries.
    private var isHeap = false

    mutating func add(_ entries: [IndexEntry]) {
        if entries.isEmpty { return }
        runs.append((entries.sorted { KeyRange.precedes($0.key, $1.key) }, 0))
        isHeap = false
    }

    mutating func popLeast() -> IndexEntry? {
        if !isHeap {
            for root in (0..<runs.count / 2).reversed() { siftDown(root) }
            isHeap = true
        }
        guard !runs.isEmpty else { return nil }
        let least = runs[0].entries[runs[0].next]
        runs[0].next += 1
        if runs[0].next == runs[0].entries.count {
            runs.swapAt(0, runs.count - 1)
            runs.removeLast()
        }
        siftDown(0)
        return least
    }

    private func precedes(_ a: Int, _ b: Int) -> Bool {
        KeyRange.precedes(runs[a].entries[runs[a].next].key, runs[b].entries[runs[b].next].key)
    }

    private mutating func siftDown(_ start: Int) {
        var root = start
        while 2 * root + 1 < runs.count {
            var child = 2 * root + 1
            if child + 1 < runs.count, precedes(child + 1, child) { child += 1 }
            guard precedes(child, root) else { return }
            runs.swapAt(root, child)
            root = child
        }
    }
}
