/// The entries of one index for the next documents of one collection, on their way into the file.
///
/// Documents are read in the order they lie in the file, and entries written in the order of their
/// keys: both ways each page is touched once, and not once for each document. That takes several
/// transactions, in which documents change: a changed one is indexed with its change and left out
/// here. A batch that is lost before its end leaves entries behind; the next one finds them there, or
/// they are deleted with the change of their document.
struct EntryBatch {
    enum Stage { case listing, sorting, reading, writing, done }

    let index: Int64
    let collection: Int64
    private(set) var stage = Stage.listing
    /// The last name it has documents through, by which it will be known how far the index is.
    private(set) var through: [UInt8] = []
    private var rows: [Int64] = []
    private var nextRow = 0
    private(set) var entries = SortedEntries()
    private var changed: Set<Int64> = []

    /// Documents of one batch: what is sorted in a few milliseconds.
    static let capacity = 50_000
    /// Entries beyond this are written before more documents are read.
    private static let maxEntryBytes = 16 << 20
    /// Entries that are sorted together.
    private static let run = 4_000
    /// Beyond this many others, documents are not read in one go with those before them.
    private static let widestGap: UInt64 = 4
    /// Past this many changes, the batch is given up for a new one.
    private static let maxChanges = 10_000

    init(index: Int64, collection: Int64) {
        self.index = index
        self.collection = collection
    }

    // MARK: Listing

    /// How many documents it still takes.
    var room: Int { Self.capacity - rows.count }

    mutating func list(_ row: Int64) { rows.append(row) }

    /// The one that was listed last.
    var lastListed: Int64? { rows.last }

    /// - Parameter name: Of the one that was listed last.
    mutating func haveListed(through name: [UInt8]) { through = name }

    mutating func endListing() {
        precondition(stage == .listing && !rows.isEmpty)
        stage = .sorting
    }

    /// Brings the documents into the order of the file.
    mutating func sort() {
        precondition(stage == .sorting)
        rows.sort()
        stage = .reading
    }

    // MARK: Reading

    /// Whether something is to be written before more is read.
    var isFull: Bool { entries.byteCount >= Self.maxEntryBytes }

    /// Documents that lie in the file one behind the other, or nearly, and so are read in one go; nil when
    /// it is time to write.
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

    /// In a damaged file they may be as far apart as numbers can be.
    private func isNear(_ row: Int64, _ before: Int64) -> Bool {
        UInt64(bitPattern: row &- before) <= Self.widestGap
    }

    /// Comes to a document that was found.
    ///
    /// - Returns: Whether it is one of the batch, and to be indexed with it.
    mutating func take(_ row: Int64, _ budget: inout Int) -> Bool {
        while nextRow < rows.count, rows[nextRow] < row { skip(&budget) }
        guard nextRow < rows.count, rows[nextRow] == row else { return false }
        skip(&budget)
        return changed.isEmpty || !changed.contains(row)
    }

    /// Leaves out the documents up to this one that were not found.
    mutating func skip(through row: Int64, _ budget: inout Int) {
        while nextRow < rows.count, rows[nextRow] <= row { skip(&budget) }
    }

    private mutating func skip(_ budget: inout Int) {
        nextRow += 1
        budget -= 1
    }

    /// - Parameter write: As ``SortedEntries/add(_:_:)`` wants it.
    mutating func add(
        _ row: Int64, _ write: (inout KeyWriter) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try entries.add(row, write)
    }

    /// Sorts what was read, in runs that take some milliseconds.
    mutating func endReading() {
        if stage == .writing || entries.unsorted >= Self.run { entries.endRun() }
    }

    // MARK: Writing

    /// The next entries to be written; fewer than `count` when no more are.
    mutating func next(_ count: Int) -> [SortedEntries.Entry] {
        precondition(stage == .writing)
        var next: [SortedEntries.Entry] = []
        next.reserveCapacity(count)
        while next.count < count, let entry = entries.popLeast() {
            if changed.isEmpty || !changed.contains(entry.row) { next.append(entry) }
        }
        return next
    }

    /// Goes on with what is still to be read.
    mutating func endWriting() {
        entries = SortedEntries()
        stage = nextRow < rows.count ? .reading : .done
    }

    // MARK: Changes

    /// Whether the document is one that the index will have with this batch.
    func holds(_ collection: Int64, _ name: [UInt8]) -> Bool {
        collection == self.collection && !KeyRange.precedes(through, name)
    }

    /// Its entries are in the file now.
    ///
    /// - Returns: False when that is no longer worth remembering.
    mutating func leaveOut(_ row: Int64) -> Bool {
        changed.insert(row)
        return changed.count <= Self.maxChanges
    }
}
