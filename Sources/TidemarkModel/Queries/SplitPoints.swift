/// Picks the rows that cut a query into about equal parts, in one pass over its rows and without
/// keeping them all.
///
/// As many cuts as were asked for, but no more than one for 128 rows, rounded: 5 rows give none, 100
/// give one, 1,000 give up to 8. Source: server-production-facts 2, measured.
public struct SplitPoints: Sendable {
    /// Rows for a cut, about.
    static let rowsForACut = 128
    /// Rows kept at most. Beyond that only every second, fourth … row is.
    private static let capacity = 1 << 16

    /// Every `stride`-th row, from the first.
    private var kept: [DocumentPath] = []
    private var stride = 1
    private var rows = 0

    public init() {}

    /// Takes up the next row, in the query's order.
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

    /// The first rows of all parts but the first, in order, each once.
    public func cuts(upTo wanted: Int) -> [DocumentPath] {
        let possible = (rows + Self.rowsForACut / 2) / Self.rowsForACut
        let count = min(wanted, possible, kept.count / 2)
        guard count > 0 else { return [] }
        // At least two kept rows lie between two cuts, so that no row is cut at twice.
        return (1...count).map { kept[$0 * rows / (count + 1) / stride] }
    }
}
