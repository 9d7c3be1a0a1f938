import TidemarkModel

/// The numbers of the first `capacity` rows in an order. No step takes long, however many rows
/// there are.
struct RowsInOrder {
    private let capacity: Int
    private var entries = SortedEntries()
    private var count = 0
    /// The key after which no row is among the first ones; nil if unknown.
    private var last: [UInt8]?
    /// True if some rows were dropped.
    private(set) var isCut = false

    /// The number of entries sorted together.
    private static let run = 4_000
    /// The maximum capacity at which the first rows are selected. With a larger capacity, all rows
    /// are kept, because repeated selections would take too long.
    private static let mostSelected = 2_000

    init(capacity: Int) { self.capacity = capacity }

    /// - Parameter write: Writes the key, as ``SortedEntries/add(_:_:)`` requires.
    mutating func add(
        _ row: Int64, _ write: (inout KeyWriter) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var (hasKey, isLate) = (false, false)
        try entries.add(row) { writer throws(StoreError) in
            let start = writer.bytes.count
            hasKey = try write(&writer)
            guard hasKey, let last else { return hasKey }
            isLate = KeyRange.precedes(last, Array(writer.bytes[start...]))
            return !isLate
        }
        if isLate { isCut = true }
        if isLate || !hasKey { return }
        count += 1
        if entries.unsorted >= Self.run { entries.endRun() }
        if capacity <= Self.mostSelected, count >= max(4 * capacity, 2 * Self.run) {
            try select()
        }
    }

    mutating func endGathering() { entries.endRun() }

    /// Returns the next row. A row that was added twice is returned twice in succession.
    mutating func next() -> Int64? { entries.popLeast()?.row }

    private mutating func select() throws(StoreError) {
        entries.endRun()
        var first = SortedEntries()
        var kept = 0
        var before: Int64?
        while kept < capacity, let entry = entries.popLeast() {
            if entry.row == before { continue }
            before = entry.row
            kept += 1
            try entries.withKeys { key throws(StoreError) in
                try first.add(entry.row) { writer throws(StoreError) in
                    writer.bytes += key(entry)
                    return true
                }
                last = Array(key(entry))
            }
        }
        if entries.popLeast() != nil { isCut = true }
        first.endRun()
        entries = first
        count = kept
    }
}
