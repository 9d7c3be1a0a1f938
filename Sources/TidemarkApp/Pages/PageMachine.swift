package import Tidemark

/// Pages of a collection, newest first, of which the first is the live head. The machine is pure:
/// it takes requests and answers, and returns listeners to begin and to end.
///
/// Each page is a separate listener for a number of rows after a row, so visible rows stay up to
/// date. Alternatively a page is loaded once, and ``Event/changed(_:)`` reports its changes. The
/// machine knows which parts of the collection it has completely, and shows the known rows from the
/// newest down, without a hole:
/// - rows that newer rows push out of a page stay unchanged, because no listener covers them any
///   longer;
/// - if so many rows arrive together that the head no longer reaches the rows below, the rows
///   between are the next page, and the rows below are shown again after that page arrives;
/// - a row that moves from a page to another is shown once, at its last reported place.
package struct PageMachine<Content: Hashable & Sendable>: Hashable, Sendable {
    package typealias Row = PageRow<Content>
    package typealias WindowID = Int

    package enum Event: Sendable {
        case start
        case loadMore
        /// - Parameter isFromCache: True if the server has not confirmed the snapshot: then it
        ///   proves nothing about other rows below its last row.
        /// - Parameter named: The number of rows that the server named, including rows that a
        ///   pending write hides; nil for the number of the given rows.
        case snapshot(WindowID, [Row], isFromCache: Bool, named: Int? = nil)
        /// A loaded page without a listener, complete down to its last row.
        /// - Parameter isLast: True if there are no rows below.
        case page(WindowID, [Row], isLast: Bool)
        /// The present state of documents at any place; nil for a document that is no longer a row.
        case changed([DocumentPath: Row?])
        /// The user has cleared the rows at or below a time.
        case cleared(Timestamp)
        case failed(WindowID, FirestoreError)
    }

    package enum Effect: Hashable, Sendable {
        case listen(WindowID, after: PagePosition?, limit: Int)
        /// Requests a page. Its answer is a ``Event/page(_:_:isLast:)``.
        case load(WindowID, after: PagePosition, limit: Int)
        case stop(WindowID)
    }

    /// A page with a listener.
    private struct Window: Hashable {
        let id: WindowID
        let after: PagePosition?
        /// The newest row that the server reported in its last snapshot. Rows that arrive after the
        /// listener ends are above it, even if the device's own writes are newer.
        var newest: PagePosition?
        var lower: PageEdge?
        var isPending = true
        var isFromCache = true
        /// True if the last snapshot has fewer rows than a page.
        var isPart = false
        /// The lower end of its rows in the last snapshot that the server confirmed; nil before
        /// that. Before that snapshot, and below this end, the cache's rows may have holes.
        var confirmedLower: PageEdge?
        var isConfirmed: Bool { confirmedLower != nil }

        var upper: PageEdge { after.map { .after($0) } ?? .newest }
    }

    /// The maximum number of live pages. If there are more, the machine stops the page that was
    /// opened first after the head: its rows stay unchanged.
    package static var maxWindows: Int { 20 }
    /// The default of ``maxRows``.
    package static var maxRows: Int { 100_000 }

    #if TIDEMARK_DEFECTS
        package var defects: PlantedDefects = []
    #endif
    package let pageSize: Int
    /// True if the pages below the head are loaded, without a listener.
    package let loadsPages: Bool
    /// The maximum number of kept rows. At the maximum, ``hasMore`` is false, and rows that arrive
    /// at the head remove the oldest.
    package let maxRows: Int
    /// All held rows, newest first, each path once.
    private var held: [Row] = []
    private var coverage = PageCoverage()
    private var windows: [Window] = []
    private var lastID = 0
    /// The time of the clear. Rows at or below it are never shown.
    private var cleared: Timestamp?
    package private(set) var error: FirestoreError?

    /// - Precondition: `pageSize` is positive, and `maxRows` is at least `pageSize`.
    package init(pageSize: Int, loadsPages: Bool = false, maxRows: Int = Self.maxRows) {
        precondition(pageSize > 0 && maxRows >= pageSize)
        self.pageSize = pageSize
        self.maxRows = maxRows
        self.loadsPages = loadsPages
    }

    /// The known rows without a hole, newest first.
    package var rows: ArraySlice<Row> {
        guard let top = coverage.top else { return [] }
        // Usually these are all rows: the rows are in order, and the first hole is below the last
        // row.
        if let last = held.last, top.contains(last.position) { return held[...] }
        let end = held.firstIndex { !top.contains($0.position) } ?? held.endIndex
        return held[..<end]
    }

    package var isLoadingMore: Bool { windows.contains { $0.isPending } }
    /// True if the newest rows come only from the device, and the server has not confirmed them.
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
            take(rows, isFromCache: isFromCache, named: named ?? rows.count, of: index)
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
            // More rows than the next head can contain may arrive above the newest known row.
            if window.after == nil {
                forgetAbove(window)
            } else if !window.isConfirmed, let lower = window.lower, window.upper < lower {
                // Rows that only the cache reported may have holes: the page is requested again.
                coverage.remove(window.upper..<lower)
            }
            self.error = error
            return []
        }
    }

    private mutating func loadMore() -> [Effect] {
        // The head comes first, also after an error.
        guard windows.contains(where: { $0.after == nil }) else { return step(.start) }
        guard !isLoadingMore, hasMore, case .after(let last)? = coverage.top?.upperBound else {
            return []
        }
        // The cache has no rows below a page that it cannot fill. The server's rows of that page
        // come first, and say whether there are more.
        if let newest = windows.last, newest.isPart, !newest.isConfirmed { return [] }
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

    /// Returns the lower end of the range that a snapshot covers completely. A pending write of the
    /// device can remove a row from a page, or move a row to its end; such a row proves nothing
    /// about the next rows on the server.
    private func lower(
        _ rows: [Row], isFromCache: Bool, named: Int, window: Window
    ) -> PageEdge {
        let settled = rows.filter { !$0.isPending }
        // A full page may have cut off rows that the server reported.
        let isLast = !isFromCache && max(named, rows.count) < pageSize
        let shown = lower(rows, window, isLast: isLast)
        if isLast { return shown }
        if isFromCache { return window.confirmedLower.map { min(shown, $0) } ?? shown }
        let told = lower(settled, window, isLast: false)
        guard let known = window.confirmedLower else { return told }
        return max(told, rows.count < pageSize ? known : min(known, shown))
    }

    private mutating func take(
        _ rows: [Row], isFromCache: Bool, named: Int, of index: Int
    ) {
        var window = windows[index]
        let lower = lower(rows, isFromCache: isFromCache, named: named, window: window)
        // More rows may have arrived than the page can contain: above its newest known row, only
        // this snapshot is known.
        forgetAbove(window)
        let known = window.upper..<lower
        show(rows.filter { known.contains($0.position) }, from: window.upper, to: lower)
        if !isFromCache { window.newest = rows.first { !$0.isPending }?.position }
        window.lower = lower
        window.isFromCache = isFromCache
        window.isPart = rows.count < pageSize
        if !isFromCache { window.confirmedLower = lower }
        // An empty result of the cache is no page yet.
        if !isFromCache || !rows.isEmpty { window.isPending = false }
        windows[index] = window
    }

    /// Replaces all known rows between two edges by the given rows.
    private mutating func show(_ rows: [Row], from upper: PageEdge, to lower: PageEdge) {
        guard upper < lower else { return }
        coverage.insert(upper..<lower)
        // The rows are in order, so a binary search finds the range among 100,000 rows.
        let first = held.boundary { upper <= .before($0.position) }
        let last = held.boundary { lower < .after($0.position) }
        held.removeSubrange(first..<max(first, last))
        let paths = Set(rows.map(\.path))
        held.removeAll { paths.contains($0.path) }
        let place = held.boundary { upper <= .before($0.position) }
        let shown = rows.filter { !isCleared($0.position) }
        held.insert(contentsOf: shown.sorted { $0.position < $1.position }, at: place)
    }

    /// Moves rows only inside the known ranges: rows elsewhere arrive with their page.
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
    /// Returns the first index at which a condition is true, by binary search. The condition must
    /// be true for all later elements.
    fileprivate func boundary(where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
