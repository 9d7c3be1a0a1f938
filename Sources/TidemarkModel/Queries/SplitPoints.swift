/// Selects rows that cut a query into parts of about equal size, in one pass and without keeping
/// all rows.
///
/// Returns at most the requested number of cuts, and at most one per 128 rows, rounded: 5 rows give
/// none, 100 give one, 1,000 give up to 8. Source: server-production-facts 2, measured.
public struct SplitPoints: Sendable {
    /// The approximate number of rows per cut.
    static let rowsForACut = 128
    /// The maximum number of rows kept. Beyond it, only every second, fourth … row is kept.
    private static let capacity = 1 << 16

    /// Rows at a distance of `stride`, starting with the first.
    private var kept: [DocumentPath] = []
    private var stride = 1
    private var rows = 0

    public init() {}

    /// Adds the next row, in the query's order.
    public mutating func add(_ path: DocumentPath) {
        if rows.isMultiple(of: stride) {
            kept.append(path)
            if kept.count == Self.capacity { thinOut() }
        }
        rows += 1
    }

    private mutating func thinOut() {
        kept = Swift.stride(from: 0, to: kept.count, by: 2).map { kept[$0] }
        stride *= 2
    }

    /// Returns the first row of every part except the first, in order and without duplicates.
    public func cuts(upTo wanted: Int) -> [DocumentPath] {
        let possible = (rows + Self.rowsForACut / 2) / Self.rowsForACut
        let count = min(wanted, possible, kept.count / 2)
        guard count > 0 else { return [] }
        // At least two kept rows lie between two cuts, so no row is used for two cuts.
        return (1...count).map { kept[$0 * rows / (count + 1) / stride] }
    }
}
