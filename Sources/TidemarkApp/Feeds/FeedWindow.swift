import Tidemark

/// The newest rows of a feed on disk, down to the last row that was read.
///
/// The window is complete down to its end. Changes above the end are applied to the window; rows
/// below stay on disk until the feed asks for them.
struct FeedWindow<Content: Hashable & Sendable>: Hashable, Sendable {
    typealias Row = FeedRow<Content>

    /// The rows, newest first, each once.
    private(set) var rows: [Row] = []
    /// The number of wanted rows. The window never keeps more.
    private(set) var size: Int
    /// True if the disk may have more rows below the end.
    private(set) var hasMore = true
    /// The position of the last row that was read, even if that row was removed later. Nil before
    /// the first read, and after everything has been read.
    private(set) var end: PagePosition?
    /// The lower end of the held range: rows below it are not shown.
    private var base: CoveragePosition

    /// - Precondition: `size` is positive.
    init(size: Int, base: CoveragePosition = .lowest) {
        precondition(size > 0)
        self.size = size
        self.base = base
    }

    /// The number of rows to read below the end.
    var room: Int { max(0, size - rows.count) }
    var isFull: Bool { !hasMore || room == 0 }

    /// Makes room for more rows. The size stops at `Int.max`.
    mutating func grow(by count: Int) {
        precondition(count >= 0)
        let (sum, overflow) = size.addingReportingOverflow(count)
        size = overflow ? .max : sum
    }

    /// Returns true if the window shows rows below a position.
    func reaches(below base: CoveragePosition) -> Bool { rows.contains { !$0.isAtLeast(base) } }

    /// Moves the lower end of the held range, up to the lowest shown row at most, or down.
    ///
    /// - Precondition: The window shows no row below `next`.
    mutating func move(base next: CoveragePosition) {
        let isLower = next < base
        base = next
        if isLower, !hasMore {
            (hasMore, end) = (true, rows.last?.position)
        } else if !isLower, let end, !end.isAtLeast(next) {
            (hasMore, self.end) = (false, nil)
        }
    }

    /// Adds the next rows below the end.
    mutating func append(_ next: [Row], hasMore: Bool, _ marks: Marks) {
        // A row that moved down since it was read is in both lists.
        let again = Set(next.map(\.path))
        rows.removeAll { again.contains($0.path) }
        rows += next
        rows.sort { $0.position < $1.position }
        self.hasMore = hasMore
        end = hasMore ? next.last?.position ?? end : nil
        apply(marks)
        trim()
    }

    /// Moves changed documents to their new places. Costs a pass over the window.
    ///
    /// - Parameter changes: The rows by path; nil for a document that is no longer an item.
    mutating func apply(_ changes: [DocumentPath: Row?], _ marks: Marks) {
        if changes.isEmpty { return }
        rows.removeAll { changes[$0.path] != nil }
        rows += changes.values.compactMap { row in
            guard let row, row.isAtLeast(base), contains(row.position) else { return nil }
            return row
        }
        rows.sort { $0.position < $1.position }
        apply(marks)
        trim()
    }

    private func contains(_ position: PagePosition) -> Bool {
        if !hasMore { return true }
        return end.map { !($0 < position) } ?? false
    }

    private mutating func trim() {
        guard rows.count > size else { return }
        rows.removeLast(rows.count - size)
        end = rows.last?.position
        hasMore = true
    }

    /// Removes cleared rows, and sets which rows are unread.
    mutating func apply(_ marks: Marks) {
        if let action = marks.action { rows.removeAll { !$0.isAbove(action) } }
        for index in rows.indices { rows[index].mark(consumption: marks.consumption) }
    }

    /// The number of unread rows; nil if there may be unread rows below the end.
    var unreadCount: Int? {
        if hasMore, rows.last?.isUnread ?? true { return nil }
        return rows.count(where: \.isUnread)
    }
}
