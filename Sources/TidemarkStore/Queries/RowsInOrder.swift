import TidemarkModel

/// Numbers of rows by the keys of an order, the first `capacity` of them. No step takes long, however
/// many there are.
struct RowsInOrder {
    private let capacity: Int
    private var entries = SortedEntries()
    private var count = 0
    /// What follows it is none of the first ones; nil where that is not known.
    private var last: [UInt8]?
    /// Whether some were left out.
    private(set) var isCut = false

    /// Entries that are sorted together.
    private static let run = 4_000
    /// More than these are all kept: to find the first ones again and again would take too long at a time.
    private static let mostSelected = 2_000

    init(capacity: Int) { self.capacity = capacity }

    /// - Parameter write: As ``SortedEntries/add(_:_:)`` wants it.
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

    /// The next row; one that was added twice comes twice, one behind the other.
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
