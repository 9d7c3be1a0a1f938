import Tidemark

/// The documents of a pager on the device, as they will be, and the pages that come from them.
struct PlannedDisk: Sendable {
    /// The documents in the cache, by path.
    var held: [DocumentPath: ExpectedDocument]
    var progress: PageProgress
    /// The lower end of the pager: a clear.
    let floor: CoveragePosition
    /// The maximum age of a part that comes from disk; nil for any age.
    let maxAge: Duration?
    /// True if the pager asks for changes.
    let hasChanges: Bool
    /// True if the device has pages of an earlier launch, which may have changed.
    var hasEarlierPages: Bool { saved != nil }
    /// The progress on disk; nil before the first one is stored.
    private var saved: PageProgress?

    /// - Parameter isStored: True if the disk has the progress.
    init(
        held: [DocumentPath: ExpectedDocument], progress: PageProgress, isStored: Bool,
        floor: CoveragePosition, maxAge: Duration?, hasChanges: Bool
    ) {
        self.held = held
        self.progress = progress
        self.floor = floor
        self.maxAge = maxAge
        self.hasChanges = hasChanges
        saved = isStored ? progress : nil
    }

    /// Forgets what is not on disk.
    mutating func close() { progress = saved ?? PageProgress() }

    mutating func store(_ documents: [ExpectedDocument]) {
        for document in documents { held[document.path] = document }
    }

    /// Records the range of the newest page, as the server has confirmed it.
    mutating func heard(_ rows: [ExpectedDocument], limit: Int, at now: Timestamp) {
        guard let first = rows.first, let last = rows.last else { return }
        let lower = rows.count < limit ? floor : .before(last.time, last.path)
        let upper = CoveragePosition.after(first.time, first.path)
        if lower < upper { progress.insert(lower..<upper, asOf: now) }
    }

    // MARK: Pages

    struct Page {
        var rows: [ExpectedDocument] = []
        var isLast = false
        var reads: [PlannedRead] = []
    }

    /// Plays the request for a page, as ``PageStore/page(below:limit:)`` performs it.
    mutating func page(
        below place: PagePosition, limit: Int, _ server: PlannedServer, at now: Timestamp
    ) -> Page {
        var reached = CoveragePosition.highest
        if case .timestamp(let time) = place.value { reached = .before(time, place.path) }
        var page = Page(isLast: reached <= floor)
        let oldest = maxAge.map { now.advanced(by: .zero - $0) } ?? .min
        for _ in 0..<PageStore.maxParts where page.rows.count < limit && !page.isLast {
            let wanted = limit - page.rows.count
            let lower: CoveragePosition
            switch progress.part(below: reached, asOf: oldest) {
            case .held(let end): lower = max(end, floor)
            case .gap(let end):
                let gap = max(end ?? .lowest, floor)..<reached
                let found = server.rows(in: gap, limit: wanted)
                page.reads.append(.query(.gap, found))
                lower = fill(gap, found, wanted: wanted, at: now)
            }
            page.rows += shown(in: lower..<reached, limit: wanted)
            reached = lower
            page.isLast = lower == floor && page.rows.count < limit
        }
        saved = progress
        return page
    }

    /// Stores the rows of a gap.
    ///
    /// - Returns: The lower end of the known range.
    private mutating func fill(
        _ gap: Range<CoveragePosition>, _ found: [ExpectedDocument], wanted: Int, at now: Timestamp
    ) -> CoveragePosition {
        var lower = gap.lowerBound
        if found.count == wanted, let last = found.last { lower = .before(last.time, last.path) }
        let known = lower..<gap.upperBound
        held = held.filter { !$0.value.isIn(known) }
        store(found)
        progress.insert(known, asOf: now)
        return lower
    }

    /// Returns the newest held rows of a range, without those that are marked as deleted.
    private func shown(
        in range: Range<CoveragePosition>, limit: Int
    ) -> [ExpectedDocument] {
        let rows = held.values.filter { !$0.isMarkedDeleted && $0.isIn(range) }
        return Array(rows.sorted { $0.position < $1.position }.prefix(limit))
    }

    // MARK: Changes

    /// Plays the requests for changes, as ``PageStore/changes()`` performs them.
    ///
    /// - Returns: The requests, and the new or changed documents.
    mutating func refresh(
        _ server: PlannedServer, at now: Timestamp
    ) -> (reads: [PlannedRead], changed: [ExpectedDocument]) {
        var reads: [PlannedRead] = []
        var changed: [ExpectedDocument] = []
        guard hasChanges else { return (reads, changed) }
        for _ in 0..<PageStore.maxCalls {
            let cursor = progress.cursor
            guard cursor.readTime != nil || cursor.drain != nil else { break }
            let found = server.changes(
                since: cursor.drain?.since ?? cursor.since, after: cursor.drain,
                limit: PageStore.changesPerCall)
            reads.append(.query(.changes, found))
            let rows = found.map { document in
                ChangeCursor.Row(
                    path: document.path, changeTime: document.changedAt,
                    updateTime: document.changedAt)
            }
            let fresh = progress.receive(
                rows, readTime: now, isLast: rows.count < PageStore.changesPerCall)
            saved = progress
            let paths = Set(fresh.map(\.path))
            changed += found.filter { paths.contains($0.path) }
            store(found)
            if progress.cursor.drain == nil { break }
        }
        return (reads, changed)
    }
}

extension PlannedRead {
    /// Returns a query with an answer of these documents.
    static func query(_ kind: Kind, _ documents: [ExpectedDocument]) -> PlannedRead {
        PlannedRead(
            kind: kind, rows: documents.count, bill: .query(documents.map(\.row)))
    }
}
