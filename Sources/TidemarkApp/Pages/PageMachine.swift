package import Tidemark

/// Pages of a collection, newest first, of which the first is the live head. Pure: what was asked for
/// and what was heard go in, listeners to begin and to end come out.
///
/// Every page is a listener of its own, "so many rows after this one", so that the rows a person sees
/// stay right; or is loaded once, and what changes in it is told by ``Event/changed(_:)``. It knows which
/// parts of the collection it has seen whole, and shows what is known from the newest row down without a
/// hole:
/// - rows that new ones push out of a page stay, as they were: nobody listens to them any more;
/// - when so much came at once that the head no longer reaches the rows below it, what lies between is
///   the next page, and the rows below are shown again when it has come;
/// - a row that moves from one page to another is shown once, where it was heard of last.
package struct PageMachine<Content: Hashable & Sendable>: Hashable, Sendable {
    package typealias Row = PageRow<Content>
    package typealias WindowID = Int

    package enum Event: Sendable {
        case start
        case loadMore
        /// - Parameter isFromCache: Whether the server has not confirmed it: then it says nothing of
        ///   what is not in it below its last row.
        /// - Parameter named: How many rows the server has named, also such as a write that waits keeps out;
        ///   nil for those that are given.
        case snapshot(WindowID, [Row], isFromCache: Bool, named: Int? = nil)
        /// A page that nobody listens to, complete down to its last row.
        /// - Parameter isLast: Whether there is nothing below.
        case page(WindowID, [Row], isLast: Bool)
        /// How documents look now, wherever they are; nil for one that is no row any more.
        case changed([DocumentPath: Row?])
        /// The user has cleared what is at or below a time.
        case cleared(Timestamp)
        case failed(WindowID, FirestoreError)
    }

    package enum Effect: Hashable, Sendable {
        case listen(WindowID, after: PagePosition?, limit: Int)
        /// To be answered by one ``Event/page(_:_:isLast:)``.
        case load(WindowID, after: PagePosition, limit: Int)
        case stop(WindowID)
    }

    /// One page that is listened to.
    private struct Window: Hashable {
        let id: WindowID
        let after: PagePosition?
        /// The newest row that the server has told of, in its last snapshot: what comes while nobody
        /// hears of it comes above it, also where the device's own writes are newer.
        var newest: PagePosition?
        var lower: PageEdge?
        var isPending = true
        var isFromCache = true
        /// Where its rows ended in the last snapshot that the server had confirmed; nil before one. Before
        /// it, and below it, what the cache says may have holes.
        var confirmedLower: PageEdge?
        var isConfirmed: Bool { confirmedLower != nil }

        var upper: PageEdge { after.map { .after($0) } ?? .newest }
    }

    /// Pages that are live at the same time. Of more, the one that was opened first after the head is
    /// let go: its rows stay as they are.
    package static var maxWindows: Int { 20 }
    /// What is kept where nothing is said.
    package static var maxRows: Int { 100_000 }

    #if TIDEMARK_DEFECTS
        package var defects: PlantedDefects = []
    #endif
    package let pageSize: Int
    /// Whether the pages below the head are loaded and not listened to.
    package let loadsPages: Bool
    /// Rows that are kept. With so many, ``hasMore`` is false; what the head pushes in then lets the
    /// oldest go.
    package let maxRows: Int
    /// All that is held, newest first, each path once.
    private var held: [Row] = []
    private var coverage = PageCoverage()
    private var windows: [Window] = []
    private var lastID = 0
    /// Rows at or below it are not shown, whoever brings them.
    private var cleared: Timestamp?
    package private(set) var error: FirestoreError?

    /// - Precondition: `pageSize` is positive, and `maxRows` no less.
    package init(pageSize: Int, loadsPages: Bool = false, maxRows: Int = Self.maxRows) {
        precondition(pageSize > 0 && maxRows >= pageSize)
        self.pageSize = pageSize
        self.maxRows = maxRows
        self.loadsPages = loadsPages
    }

    /// What is known without a hole, newest first.
    package var rows: ArraySlice<Row> {
        guard let top = coverage.top else { return [] }
        // Mostly all is: the rows are in order, and the first hole is below the last of them.
        if let last = held.last, top.contains(last.position) { return held[...] }
        let end = held.firstIndex { !top.contains($0.position) } ?? held.endIndex
        return held[..<end]
    }

    package var isLoadingMore: Bool { windows.contains { $0.isPending } }
    /// Whether the newest rows are what the device held, and not yet confirmed.
    package var isFromCache: Bool { windows.first?.isFromCache ?? true }
    package var hasMore: Bool {
        guard let end = coverage.top?.upperBound else { return held.count < maxRows }
        if case .after(let last) = end, isCleared(last) { return false }
        return end != .oldest && held.count < maxRows
    }

    private func isCleared(_ position: PagePosition) -> Bool {
        cleared.map(position.isAtMost) ?? false
    }

    package mutating func step(_ event: Event) -> [Effect] {
        switch event {
        case .start:
            if windows.contains(where: { $0.after == nil }) { return [] }
            error = nil
            return open(after: nil)
        case .loadMore: return loadMore()
        case .snapshot(let id, let rows, let isFromCache, let named):
            guard let index = windows.firstIndex(where: { $0.id == id }) else { return [] }
            take(rows, isFromCache, named ?? rows.count, of: index)
            return trim()
        case .page(let id, let rows, let isLast):
            guard let index = windows.firstIndex(where: { $0.id == id }) else { return [] }
            let window = windows.remove(at: index)
            show(rows, from: window.upper, to: lower(rows, window, isLast: isLast))
            return trim()
        case .changed(let changes):
            apply(changes)
            return trim()
        case .cleared(let time):
            if let cleared, time <= cleared { return [] }
            cleared = time
            held.removeAll { $0.position.isAtMost(time) }
            return []
        case .failed(let id, let error):
            guard let index = windows.firstIndex(where: { $0.id == id }) else { return [] }
            let window = windows.remove(at: index)
            // Above the newest row that it knew, more come than the next head may hold.
            if window.after == nil {
                forgetAbove(window)
            } else if !window.isConfirmed, let lower = window.lower, window.upper < lower {
                // What the cache alone told may have holes: the page is asked for again.
                coverage.remove(window.upper..<lower)
            }
            self.error = error
            return []
        }
    }

    private mutating func loadMore() -> [Effect] {
        // The head first, also when it has failed.
        guard windows.contains(where: { $0.after == nil }) else { return step(.start) }
        guard !isLoadingMore, hasMore, case .after(let last)? = coverage.top?.upperBound else {
            return []
        }
        error = nil
        var effects: [Effect] = []
        if windows.count >= Self.maxWindows,
            let old = windows.firstIndex(where: { $0.after != nil })
        {
            effects.append(.stop(windows.remove(at: old).id))
        }
        return effects + open(after: last)
    }

    private mutating func open(after: PagePosition?) -> [Effect] {
        lastID += 1
        let window = Window(id: lastID, after: after)
        if after == nil { windows.insert(window, at: 0) } else { windows.append(window) }
        if loadsPages, let after { return [.load(lastID, after: after, limit: pageSize)] }
        return [.listen(lastID, after: after, limit: pageSize)]
    }

    private func lower(_ rows: [Row], _ window: Window, isLast: Bool) -> PageEdge {
        isLast ? .oldest : rows.last.map { .after($0.position) } ?? window.upper
    }

    /// How far down a snapshot tells everything. What the device's own writes that wait have taken out of a
    /// page, or moved to its end, says nothing of what follows on the server.
    private func lower(
        _ rows: [Row], _ isFromCache: Bool, _ named: Int, _ window: Window
    ) -> PageEdge {
        let settled = rows.filter { !$0.isPending }
        // A full page may have cut off what the server has told of.
        let isLast = !isFromCache && max(named, rows.count) < pageSize
        let shown = lower(rows, window, isLast: isLast)
        if isLast { return shown }
        if isFromCache { return window.confirmedLower.map { min(shown, $0) } ?? shown }
        let told = lower(settled, window, isLast: false)
        guard let known = window.confirmedLower else { return told }
        return max(told, rows.count < pageSize ? known : min(known, shown))
    }

    private mutating func take(
        _ rows: [Row], _ isFromCache: Bool, _ named: Int, of index: Int
    ) {
        var window = windows[index]
        let lower = lower(rows, isFromCache, named, window)
        // More may have come than the page holds: above what it knew, nothing is known but this.
        forgetAbove(window)
        let known = window.upper..<lower
        show(rows.filter { known.contains($0.position) }, from: window.upper, to: lower)
        if !isFromCache { window.newest = rows.first { !$0.isPending }?.position }
        window.lower = lower
        window.isFromCache = isFromCache
        if !isFromCache { window.confirmedLower = lower }
        // The cache's nothing is no page yet.
        if !isFromCache || !rows.isEmpty { window.isPending = false }
        windows[index] = window
    }

    /// Puts the rows in the place of all that was known between two edges.
    private mutating func show(_ rows: [Row], from upper: PageEdge, to lower: PageEdge) {
        guard upper < lower else { return }
        coverage.insert(upper..<lower)
        // The rows are in order: of 100,000, only where these belong is looked for.
        let first = held.boundary { upper <= .before($0.position) }
        let last = held.boundary { lower < .after($0.position) }
        held.removeSubrange(first..<max(first, last))
        let paths = Set(rows.map(\.path))
        held.removeAll { paths.contains($0.path) }
        let place = held.boundary { upper <= .before($0.position) }
        let shown = rows.filter { !isCleared($0.position) }
        held.insert(contentsOf: shown.sorted { $0.position < $1.position }, at: place)
    }

    /// Rows move only among what is known: what lies elsewhere comes with its page.
    private mutating func apply(_ changes: [DocumentPath: Row?]) {
        if changes.isEmpty { return }
        held.removeAll { changes[$0.path] != nil }
        held += changes.values.compactMap { row in
            guard let row, !isCleared(row.position),
                coverage.ranges.contains(where: { $0.contains(row.position) })
            else { return nil }
            return row
        }
        held.sort { $0.position < $1.position }
    }

    private mutating func forgetAbove(_ window: Window) {
        #if TIDEMARK_DEFECTS
            if defects.contains(.pageHoleKept) { return }
        #endif
        let newest = window.isConfirmed ? window.newest.map { PageEdge.before($0) } : nil
        guard let known = newest ?? window.lower, window.upper < known else { return }
        coverage.remove(window.upper..<known)
    }

    private mutating func trim() -> [Effect] {
        guard held.count > maxRows else { return [] }
        held.removeLast(held.count - maxRows)
        guard let last = held.last else { return [] }
        let end = PageEdge.after(last.position)
        coverage.remove(end..<PageEdge.oldest)
        let below = windows.filter { $0.upper >= end }
        windows.removeAll { $0.upper >= end }
        return below.map { .stop($0.id) }
    }
}

extension Array {
    /// The first index from which on a condition holds, of elements of which it holds for the last ones;
    /// by halves.
    fileprivate func boundary(where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
