import Tidemark

/// The rows that a feed shows, and the reads from disk for them. At most one read of rows and one
/// count run at a time. Rows do not wait for a count, which examines all held items.
///
/// The machine supplies the begin of the held range, the changes and the wanted number of rows;
/// `FeedDisk` chooses the next read and takes the answers.
struct FeedDisk<Content: Hashable & Sendable>: Hashable, Sendable {
    typealias Row = FeedRow<Content>
    typealias Effect = FeedMachine<Content>.Effect

    private enum Count: Hashable { case unread, held }

    private enum Work: Hashable {
        /// - Parameter isStale: True if the feed no longer needs the result of this read.
        case items(isAnew: Bool, isStale: Bool)
        case changes(Set<DocumentPath>)
    }

    private struct Counting: Hashable {
        let count: Count
        /// True if the feed no longer needs the result.
        var isStale = false
    }

    private(set) var window: FeedWindow<Content>
    /// Documents and index entries that were scanned to fill the window, since the start.
    private(set) var rowsScanned = 0
    /// True if the window has been read since the start.
    private(set) var hasRead = false
    /// The read of rows that the disk has not answered yet.
    private var work: Work?
    /// The count that the disk has not answered yet.
    private var counting: Counting?
    /// Documents whose change is not in the window yet.
    private var changed: Set<DocumentPath> = []
    private var mustReadChanges = false
    /// True if the whole window must be read.
    private var mustReadAnew = true
    /// True if the rows below the window may have been removed.
    private var mustReadBelow = false
    /// The count of unread items; nil if it is unknown or outdated.
    private var countedUnread: Int?
    private var countedHeld: Int?
    /// The lower end of the held range; rows below it are not shown.
    private var base = CoveragePosition.lowest

    /// - Precondition: `size` is positive.
    init(size: Int) { window = FeedWindow(size: size) }

    private var lacksRows: Bool { mustReadBelow || !window.isFull }

    /// True if there are rows to read.
    var hasWork: Bool { mustReadChanges || mustReadAnew || lacksRows }

    /// The number of unread items; nil while it must still be counted.
    var unreadCount: Int? { window.unreadCount ?? countedUnread }

    /// Returns the number of held items, or a number of at least `target` if there are that many;
    /// nil while they must still be counted.
    func held(of target: Int) -> Int? {
        if hasWork { return nil }
        if !window.hasMore || window.rows.count >= target { return window.rows.count }
        return countedHeld
    }

    /// Returns true if the window shows everything that the disk has.
    ///
    /// - Parameter target: The number of held items that a caller asks about; nil if no caller
    ///   asks.
    func isSettled(_ target: Int?) -> Bool {
        work == nil && counting == nil && !hasWork && unreadCount != nil
            && (target.map { held(of: $0) != nil } ?? true)
    }

    /// True if the window shows the rows of the disk. Unread items below it may still be counted.
    var showsWindow: Bool { hasRead && !hasWork && !isReadingRows }

    /// True if the answer of the disk will bring rows, or show that there are enough rows.
    var isReadingRows: Bool {
        work != nil || counting?.count == .held || (counting != nil && hasWork)
    }
}

// MARK: - What is wanted

extension FeedDisk {
    mutating func grow(by count: Int) {
        window.grow(by: count)
        forgetCounts()
    }

    mutating func readAnew() {
        mustReadAnew = true
        forgetCounts()
        makeStale()
    }

    /// Records changed documents. Also lets the next read look for changes of other writers.
    mutating func readChanges(_ paths: some Sequence<DocumentPath> = []) {
        changed.formUnion(paths)
        mustReadChanges = true
    }

    /// Applies moved marks.
    mutating func show(_ marks: Marks) {
        window.apply(marks)
        mustReadBelow = window.hasMore
        forgetCounts()
    }

    /// Moves the lower end of the held range.
    mutating func move(base next: CoveragePosition) {
        if next == base { return }
        let isLower = next < base
        base = next
        forgetCounts()
        makeStale()
        mustReadBelow = window.hasMore
        if isLower || !window.reaches(below: next) {
            window.move(base: next)
        } else {
            // The old rows stay until the rows that replace them are read.
            mustReadAnew = true
        }
    }

    private mutating func makeStale() {
        if case .items(let isAnew, _)? = work { work = .items(isAnew: isAnew, isStale: true) }
    }

    private mutating func forgetCounts() {
        countedUnread = nil
        countedHeld = nil
        counting?.isStale = true
    }
}

// MARK: - What is read

extension FeedDisk {
    /// - Parameter target: The number of held items that a caller asks about; nil if no caller
    ///   asks.
    /// - Returns: The next read or count; nil if one of its kind runs, or if there is nothing to
    ///   read.
    mutating func next(_ marks: Marks, _ target: Int?) -> Effect? {
        guard work == nil else { return nil }
        if mustReadAnew || (lacksRows && !mustReadChanges) { return readItems(marks) }
        if mustReadChanges { return readChanged() }
        if counting != nil { return nil }
        if let target, held(of: target) == nil {
            counting = Counting(count: .held)
            return .count(from: start(marks.action))
        }
        if unreadCount == nil {
            counting = Counting(count: .unread)
            return .count(from: start(marks.floor))
        }
        return nil
    }

    private func start(_ mark: Timestamp?) -> CoveragePosition {
        mark.map { max(base, .end(of: $0)) } ?? base
    }

    private mutating func readItems(_ marks: Marks) -> Effect {
        work = .items(isAnew: mustReadAnew, isStale: false)
        mustReadBelow = false
        let end = mustReadAnew ? nil : window.end
        let isWhole = end?.isUnsettled ?? true
        return .readItems(
            below: isWhole ? nil : end, count: isWhole ? window.size : window.room,
            from: start(marks.action))
    }

    private mutating func readChanged() -> Effect {
        let pending = window.rows.filter(\.hasPendingWrites).map(\.path)
        let paths = changed.union(pending)
        work = .changes(changed)
        changed = []
        mustReadChanges = false
        return .readChanges(paths.sorted())
    }

    // MARK: Answers

    /// - Returns: True if the shown rows changed, in the window or below.
    mutating func itemsRead(
        _ rows: [Row], hasMore: Bool, scanned: Int, marks: Marks
    ) -> Bool {
        guard case .items(let isAnew, let isStale)? = work else { return false }
        work = nil
        rowsScanned += scanned
        if isStale { return false }
        if isAnew {
            mustReadAnew = false
            window = FeedWindow(size: window.size, base: base)
        }
        window.append(rows, hasMore: hasMore, marks)
        hasRead = true
        return true
    }

    mutating func changesRead(_ changes: [DocumentPath: Row?], _ marks: Marks) -> Bool {
        guard case .changes? = work else { return false }
        work = nil
        window.apply(changes, marks)
        mustReadBelow = window.hasMore
        forgetCounts()
        return true
    }

    mutating func outgrown() {
        guard case .changes? = work else { return }
        work = nil
        readAnew()
    }

    mutating func counted(_ number: Int) -> Bool {
        guard let counting else { return false }
        self.counting = nil
        if counting.isStale { return false }
        switch counting.count {
        case .unread: countedUnread = number
        case .held: countedHeld = number
        }
        return true
    }

    /// Ends the read or the count after an error. The next call reads the whole window again.
    mutating func failed(isCount: Bool) {
        mustReadAnew = true
        if isCount {
            counting = nil
            return
        }
        if case .changes(let paths)? = work { changed.formUnion(paths) }
        work = nil
    }
}
