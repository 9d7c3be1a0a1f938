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
    private var entries = SortedEntries()
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
        while nextRow < rows.count, entries.byteCount < Self.maxEntryBytes {
            nextRow += 1
            if !changed.contains(rows[nextRow - 1]) { return rows[nextRow - 1] }
        }
        stage = .writing
        return nil
    }

    /// - Parameter write: As ``SortedEntries/add(_:_:)`` wants it.
    func add(
        _ row: Int64, _ write: (inout KeyWriter) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try entries.add(row, write)
    }

    func endRun() { entries.endRun() }

    // MARK: Writing

    /// Has the next entry written.
    ///
    /// - Returns: False when more is to be read, or nothing.
    func writeNext(
        _ write: (_ key: UnsafeRawBufferPointer, _ row: Int64) throws(StoreError) -> Void
    ) throws(StoreError) -> Bool {
        precondition(stage == .writing)
        while let entry = entries.popLeast() {
            if changed.contains(entry.row) { continue }
            try entries.withKey(of: entry) { key throws(StoreError) in try write(key, entry.row) }
            return true
        }
        entries = SortedEntries()
        stage = nextRow < rows.count ? .reading : .done
        return false
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
