import Tidemark

/// The newest rows that a feed holds on disk, as far down as they were read.
///
/// Complete down to its end: whatever changes above that is applied to it, what lies below stays on
/// disk until it is asked for.
struct FeedWindow<Content: Hashable & Sendable>: Hashable, Sendable {
    typealias Row = FeedRow<Content>

    /// Newest first, each once.
    private(set) var rows: [Row] = []
    /// How many are wanted; never more are kept.
    private(set) var size: Int
    /// Whether there may be more on disk below the end.
    private(set) var hasMore = true
    /// Of the last row that was read, though that may be gone by now; nil before the first read,
    /// and when everything has been read.
    private(set) var end: PagePosition?
    /// From where on everything is held: what lies below is not shown.
    private var base: CoveragePosition

    /// - Precondition: `size` is positive.
    init(size: Int, base: CoveragePosition = .lowest) {
        precondition(size > 0)
        self.size = size
        self.base = base
    }

    /// How many rows are to be read below the end.
    var room: Int { max(0, size - rows.count) }
    var isFull: Bool { !hasMore || room == 0 }

    /// Makes room for more rows; as many as there can be at the most.
    mutating func grow(by count: Int) {
        precondition(count >= 0)
        let (sum, overflow) = size.addingReportingOverflow(count)
        size = overflow ? .max : sum
    }

    /// Whether it shows rows below a position.
    func reaches(below base: CoveragePosition) -> Bool { rows.contains { !$0.isAtLeast(base) } }

    /// What is held begins elsewhere: above what is shown already, or further down.
    ///
    /// - Precondition: It shows nothing below.
    mutating func move(base next: CoveragePosition) {
        let isLower = next < base
        base = next
        if isLower, !hasMore {
            (hasMore, end) = (true, rows.last?.position)
        } else if !isLower, let end, !end.isAtLeast(next) {
            (hasMore, self.end) = (false, nil)
        }
    }

    /// Takes the next rows below the end.
    mutating func append(_ next: [Row], hasMore: Bool, _ marks: Marks) {
        // One that moved down since it was read is in both.
        let again = Set(next.map(\.path))
        rows.removeAll { again.contains($0.path) }
        rows += next
        rows.sort { $0.position < $1.position }
        self.hasMore = hasMore
        end = hasMore ? next.last?.position ?? end : nil
        apply(marks)
        trim()
    }

    /// Puts documents that changed where they belong now. Costs a pass over the window.
    ///
    /// - Parameter changes: By path; nil for one that is no item any more.
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

    /// Hides what was cleared and tells apart what was consumed.
    mutating func apply(_ marks: Marks) {
        if let action = marks.action { rows.removeAll { !$0.isAbove(action) } }
        for index in rows.indices { rows[index].mark(consumption: marks.consumption) }
    }

    /// How many are unread; nil when there may be unread ones below the end.
    var unreadCount: Int? {
        if hasMore, rows.last?.isUnread ?? true { return nil }
        return rows.count(where: \.isUnread)
    }
}
