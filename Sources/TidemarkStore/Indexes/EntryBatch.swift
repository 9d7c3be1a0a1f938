/// The entries of one index for the next documents of one collection, before they are written.
///
/// Documents are read in file order, and entries are written in key order. So each page is visited
/// once, not once per document. This takes several transactions, between which documents can
/// change. A changed document is indexed by its own write and omitted here. A batch that is lost
/// before its end leaves entries behind; the next batch finds them, or they are deleted when their
/// document changes.
struct EntryBatch {
    enum Stage { case listing, sorting, reading, writing, done }

    let index: Int64
    let collection: Int64
    private(set) var stage = Stage.listing
    /// The name of the last document in the batch, up to which the index will be complete.
    private(set) var through: [UInt8] = []
    private var rows: [Int64] = []
    private var nextRow = 0
    private(set) var entries = SortedEntries()
    private var changed: Set<Int64> = []

    /// The maximum number of documents in a batch, so that sorting takes a few milliseconds.
    static let capacity = 50_000
    /// The size of the entries from which they are written before more documents are read.
    private static let maxEntryBytes = 16 << 20
    /// The number of entries sorted together.
    private static let run = 4_000
    /// The maximum gap between row numbers that are read in one pass.
    private static let widestGap: UInt64 = 4
    /// The maximum number of changed documents. Beyond it, the batch is replaced with a new one.
    private static let maxChanges = 10_000

    init(index: Int64, collection: Int64) {
        self.index = index
        self.collection = collection
    }

    // MARK: Listing

    /// The number of documents that the batch can still take.
    var room: Int { Self.capacity - rows.count }

    mutating func list(_ row: Int64) { rows.append(row) }

    /// The row that was listed last.
    var lastListed: Int64? { rows.last }

    /// - Parameter name: The name of the last listed document.
    mutating func haveListed(through name: [UInt8]) { through = name }

    mutating func endListing() {
        precondition(stage == .listing && !rows.isEmpty)
        stage = .sorting
    }

    /// Sorts the documents in file order.
    mutating func sort() {
        precondition(stage == .sorting)
        rows.sort()
        stage = .reading
    }

    // MARK: Reading

    /// True if entries must be written before more documents are read.
    var isFull: Bool { entries.byteCount >= Self.maxEntryBytes }

    /// Returns rows that are adjacent or nearly adjacent in the file, to read in one pass; nil when
    /// entries must be written.
    mutating func nextRows(atMost limit: Int) -> (first: Int64, last: Int64)? {
        precondition(stage == .reading && limit > 0)
        guard nextRow < rows.count, !isFull else {
            stage = .writing
            return nil
        }
        var end = nextRow + 1
        while end < rows.count, end - nextRow < limit, isNear(rows[end], rows[end - 1]) { end += 1 }
        return (rows[nextRow], rows[end - 1])
    }

    /// Returns true if two rows are close. The subtraction wraps, because row numbers in a damaged
    /// file can have any distance.
    private func isNear(_ row: Int64, _ before: Int64) -> Bool {
        UInt64(bitPattern: row &- before) <= Self.widestGap
    }

    /// Advances to a document that was found.
    ///
    /// - Returns: True if the document belongs to the batch and must be indexed with it.
    mutating func take(_ row: Int64, _ budget: inout Int) -> Bool {
        while nextRow < rows.count, rows[nextRow] < row { skip(&budget) }
        guard nextRow < rows.count, rows[nextRow] == row else { return false }
        skip(&budget)
        return changed.isEmpty || !changed.contains(row)
    }

    /// Skips the documents up to this row that were not found.
    mutating func skip(through row: Int64, _ budget: inout Int) {
        while nextRow < rows.count, rows[nextRow] <= row { skip(&budget) }
    }

    private mutating func skip(_ budget: inout Int) {
        nextRow += 1
        budget -= 1
    }

    /// - Parameter write: Writes the key, as ``SortedEntries/add(_:_:)`` requires.
    mutating func add(
        _ row: Int64, _ write: (inout KeyWriter) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try entries.add(row, write)
    }

    /// Sorts the entries read so far, in runs that take some milliseconds.
    mutating func endReading() {
        if stage == .writing || entries.unsorted >= Self.run { entries.endRun() }
    }

    // MARK: Writing

    /// Returns the next entries to write; fewer than `count` at the end.
    mutating func next(_ count: Int) -> [SortedEntries.Entry] {
        precondition(stage == .writing)
        var next: [SortedEntries.Entry] = []
        next.reserveCapacity(count)
        while next.count < count, let entry = entries.popLeast() {
            if changed.isEmpty || !changed.contains(entry.row) { next.append(entry) }
        }
        return next
    }

    /// Continues with the documents that are not read yet.
    mutating func endWriting() {
        entries = SortedEntries()
        stage = nextRow < rows.count ? .reading : .done
    }

    // MARK: Changes

    /// Returns true if the document belongs to this batch.
    func holds(_ collection: Int64, _ name: [UInt8]) -> Bool {
        collection == self.collection && !KeyRange.precedes(through, name)
    }

    /// Omits a document, whose entries are now in the file.
    ///
    /// - Returns: False if there are too many omitted documents.
    mutating func leaveOut(_ row: Int64) -> Bool {
        changed.insert(row)
        return changed.count <= Self.maxChanges
    }
}
