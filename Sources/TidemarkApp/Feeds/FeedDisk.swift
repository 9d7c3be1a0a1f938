import Tidemark

/// What a feed shows of what its device holds, and what is read from disk for it: one thing at a time.
///
/// The machine says where what is held begins, what changed and how much is wanted; this decides what
/// is read next, and takes the answers.
struct FeedDisk<Content: Hashable & Sendable>: Hashable, Sendable {
    typealias Row = FeedRow<Content>
    typealias Effect = FeedMachine<Content>.Effect

    private enum Count: Hashable { case unread, held }

    private enum Work: Hashable {
        /// - Parameter isStale: What was to be read is no longer what is wanted.
        case items(isAnew: Bool, isStale: Bool)
        case changes(Set<DocumentPath>)
        case count(Count, isStale: Bool)
    }

    private(set) var window: FeedWindow<Content>
    /// Documents and index entries looked at to fill the window, since the start.
    private(set) var rowsScanned = 0
    /// Whether the window has been read since the start.
    private(set) var hasRead = false
    /// What the disk has been asked for.
    private var work: Work?
    /// Documents whose change the window does not show yet.
    private var changed: Set<DocumentPath> = []
    private var mustReadChanges = false
    /// Whether all of the window is to be read.
    private var mustReadAnew = true
    /// Whether what lies below the window may be gone.
    private var mustReadBelow = false
    /// Nil where it is not known, or no longer true.
    private var countedUnread: Int?
    private var countedHeld: Int?
    /// From where on everything is held; what lies below is not shown.
    private var base = CoveragePosition.lowest

    /// - Precondition: `size` is positive.
    init(size: Int) { window = FeedWindow(size: size) }

    private var lacksRows: Bool { mustReadBelow || !window.isFull }

    /// Whether there are rows to be read.
    var hasWork: Bool { mustReadChanges || mustReadAnew || lacksRows }

    /// How many are unread; nil where it is still to be counted.
    var unreadCount: Int? { window.unreadCount ?? countedUnread }

    /// How many items are held, or at least that many as are asked about; nil where it is still to be
    /// counted.
    func held(of target: Int) -> Int? {
        if hasWork { return nil }
        if !window.hasMore || window.rows.count >= target { return window.rows.count }
        return countedHeld
    }

    /// Whether everything that the disk knows is shown.
    ///
    /// - Parameter target: How many held items are asked about; nil for none.
    func isSettled(_ target: Int?) -> Bool {
        work == nil && !hasWork && unreadCount != nil
            && (target.map { held(of: $0) != nil } ?? true)
    }

    /// Whether the disk will answer, and with it rows, or that there are enough of them.
    var isReadingRows: Bool {
        switch work {
        case nil: false
        case .items, .changes, .count(.held, _): true
        case .count(.unread, _): hasWork
        }
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

    /// These have changed, and what others brought is to be looked for.
    mutating func readChanges(_ paths: some Sequence<DocumentPath> = []) {
        changed.formUnion(paths)
        mustReadChanges = true
    }

    /// The marks have moved.
    mutating func show(_ marks: Marks) {
        window.apply(marks)
        mustReadBelow = window.hasMore
        forgetCounts()
    }

    /// What is held begins elsewhere.
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
            // Its rows stay until those are there that are shown in their place.
            mustReadAnew = true
        }
    }

    private mutating func makeStale() {
        if case .items(let isAnew, _)? = work { work = .items(isAnew: isAnew, isStale: true) }
    }

    private mutating func forgetCounts() {
        countedUnread = nil
        countedHeld = nil
        if case .count(let count, _)? = work { work = .count(count, isStale: true) }
    }
}

// MARK: - What is read

extension FeedDisk {
    /// - Parameter target: How many held items are asked about; nil for none.
    /// - Returns: Nil while it reads, and when nothing is to be read.
    mutating func next(_ marks: Marks, _ target: Int?) -> Effect? {
        guard work == nil else { return nil }
        if mustReadAnew || (lacksRows && !mustReadChanges) { return readItems(marks) }
        if mustReadChanges { return readChanged() }
        if let target, held(of: target) == nil {
            work = .count(.held, isStale: false)
            return .count(from: start(marks.action))
        }
        if unreadCount == nil {
            work = .count(.unread, isStale: false)
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

    /// - Returns: Whether it shows something else now, here and below.
    mutating func itemsRead(
        _ rows: [Row], hasMore: Bool, _ scanned: Int, _ marks: Marks
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
        guard case .count(let count, let isStale)? = work else { return false }
        work = nil
        if isStale { return false }
        switch count {
        case .unread: countedUnread = number
        case .held: countedHeld = number
        }
        return true
    }

    /// A call that asks again begins with all of the window.
    mutating func failed() {
        if case .changes(let paths)? = work { changed.formUnion(paths) }
        work = nil
        mustReadAnew = true
    }
}
