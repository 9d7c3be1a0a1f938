/// A set of row numbers: one bit each, in pages, because the numbers are dense.
struct RowSet {
    private static let bitsOfPage: Int64 = 4_096

    private var pages: [Int: [UInt64]] = [:]

    /// - Returns: True if the row was not in the set.
    mutating func insert(_ row: Int64) -> Bool {
        let (page, word, bit) = Self.place(of: row)
        let known = pages[page]?[word] ?? 0
        if known & bit != 0 { return false }
        pages[page, default: Array(repeating: 0, count: Int(Self.bitsOfPage) / 64)][word] |= bit
        return true
    }

    /// - Returns: True if the row was in the set.
    mutating func remove(_ row: Int64) -> Bool {
        let (page, word, bit) = Self.place(of: row)
        guard let known = pages[page]?[word], known & bit != 0 else { return false }
        pages[page]![word] &= ~bit
        return true
    }

    func contains(_ row: Int64) -> Bool {
        let (page, word, bit) = Self.place(of: row)
        return (pages[page]?[word] ?? 0) & bit != 0
    }

    private static func place(of row: Int64) -> (page: Int, word: Int, bit: UInt64) {
        let inside = Int(row & (bitsOfPage - 1))
        return (Int(row >> 12), inside / 64, 1 << UInt64(inside % 64))
    }
}
