import Synchronization
import Tidemark

/// The connection between a pager and the engine, if pages come from disk: the record, the pages
/// and the changes.
final class PageStore: Sendable {
    typealias Row = PageRow<QueryDocumentSnapshot>

    struct Page: Sendable {
        var rows: [Row]
        /// True if there are no rows below.
        var isLast: Bool
    }

    private struct State {
        var progress = PageProgress()
        /// The progress as it was last written, with the request to keep the documents.
        var saved: PageProgress?
        var isLoaded = false
        var wasStored = false
        var asking: Task<Result<[DocumentPath: Row?], FirestoreError>, Never>?
        var clock = ServerTime()
        /// The lower end of the pager. Everything below was cleared and is read neither from disk
        /// nor from the server.
        var floor = CoveragePosition.lowest
    }

    /// The maximum number of rows in a call for changes.
    static let changesPerCall = 500
    /// The maximum number of calls for changes in a row; the rest follows next time.
    static let maxCalls = 1_000
    /// The maximum number of gaps and held ranges in a page. A page that needs more is shorter.
    static let maxParts = 50

    private let firestore: Firestore
    /// The session of the user for whom the pager was created.
    private let engine: UserSession
    private let plain: QueryValue
    /// The query in the order of its pages.
    private let query: QueryValue
    private let order: FieldPath
    private let disk: ParsedPagesFromDisk
    private let key: String
    private let state = Mutex(State())
    private let changes: CacheChanges
    private let following = Mutex<(any CancellableCall)?>(nil)

    /// - Parameter query: The query, without an order.
    init(
        _ firestore: Firestore, query: QueryValue, order: FieldPath, disk: ParsedPagesFromDisk
    ) {
        self.firestore = firestore
        self.order = order
        self.disk = disk
        engine = firestore.engine.session
        // Only times have a place in a coverage.
        var times = query.above(.min, order, orEqual: true)
        times.orders = [Order(order, .descending), Order(.documentID, .descending)]
        plain = query
        self.query = times
        changes = CacheChanges(of: query, isOwnOnly: true)
        key = "pager/\(query.canonicalID)/\(order.encoded)/\(disk.changeTime?.encoded ?? "")"
    }

    deinit { close() }

    // MARK: What this device writes

    /// Reports documents that this device writes, when the writes are journalled, acknowledged or
    /// refused; in the order of snapshots. Costs no reads.
    func followOwn(_ notify: @escaping @Sendable ([DocumentPath: Row?]) -> Void) {
        changes.onOwnChange { [weak self] in
            guard let self else { return }
            engine.cachedDocuments(at: [], andIn: changes, andWrittenIn: nil) { [weak self] read in
                // The next refresh shows changes beyond the remembered number.
                guard let self, let views = try? read.get() else { return }
                let looks = rows(of: views)
                firestore.afterSnapshots { notify(looks) }
            }
        }
        let handle = engine.follow(changes)
        following.withLock { $0 = handle }
    }

    /// Ends the observation of own writes.
    func close() { following.withLock { $0.take() }?.cancel() }

    // MARK: What is known

    /// - Parameter time: The time of the user's clear mark.
    func clear(through time: Timestamp) {
        state.withLock { $0.floor = max($0.floor, .end(of: time)) }
    }

    /// Reads the record, and creates the index for the pages. Without a record, the pager begins
    /// with the result of an earlier listener, if the cache has one.
    func load() async throws(FirestoreError) {
        if state.withLock(\.isLoaded) { return }
        let query = query
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.declareIndexes(for: [query]) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
        let bytes: [UInt8]? = try await answer { finish in
            engine.record(forKey: key, completion: finish)
        }
        let known = bytes == nil ? await begin() : bytes.flatMap { PageProgress(encoded: $0) }
        state.withLock { state in
            if state.isLoaded { return }
            state.isLoaded = true
            guard var stored = known else { return }
            // The head may have answered before the disk.
            for heard in state.progress.coverage.intervals {
                stored.insert(heard.lower..<heard.upper, asOf: heard.asOf)
            }
            state.progress = stored
            state.wasStored = true
        }
    }

    /// Stores a record of what a known result covers. Costs no reads.
    ///
    /// - Returns: Nil if the cache knows no such result, or cannot be written now.
    private func begin() async -> PageProgress? {
        let made = ResultBox<PageProgress>()
        let start: (@escaping @Sendable (Result<Void, SyncError>) -> Void) -> Void = { finish in
            self.engine.begin(
                with: self.plain, by: self.order,
                made: { [self] known in
                    // Another call has loaded in the meantime.
                    if state.withLock(\.isLoaded) { return nil }
                    guard
                        let (progress, covered) = PageProgress.beginning(
                            with: known.documents.map(bookRow), asOf: known.readTime,
                            isAll: known.isAll)
                    else { return nil }
                    made.set(progress)
                    return FeedPageRecords(
                        records: [key: progress.encoded],
                        complete: part(covered.upperBound, downTo: covered.lowerBound))
                }, completion: finish)
        }
        do throws(FirestoreError) { try await answer(start) } catch { return nil }
        return made.value
    }

    private func bookRow(_ document: Document) -> FeedBookRow {
        var time: Timestamp?
        if case .timestamp(let its)? = document.fields[order] { time = its }
        return FeedBookRow(
            path: document.path, itemTime: time, changeTime: nil, updateTime: document.updateTime)
    }

    /// Returns true if the device has pages of an earlier launch, which may have changed.
    func hasEarlierPages() async throws(FirestoreError) -> Bool {
        try await load()
        return state.withLock(\.wasStored)
    }

    /// The progress that the device begins with, for a plan. Costs no reads.
    ///
    /// - Returns: Also the lower end of the pager; and true if there are earlier pages.
    func known() async throws(FirestoreError) -> (
        progress: PageProgress, floor: CoveragePosition, wasStored: Bool
    ) {
        try await load()
        return state.withLock { ($0.progress, $0.floor, $0.wasStored) }
    }

    /// True while a request for changes is under way.
    var isAsking: Bool { state.withLock { $0.asking != nil } }

    /// Records the range of the live head's snapshot: complete from its last row up to its first.
    func heard(_ snapshot: QuerySnapshot, limit: Int) {
        guard let readTime = snapshot.readTime, !snapshot.metadata.isFromCache else { return }
        let settled = snapshot.documents.filter { !$0.metadata.hasPendingWrites }
        let now = DeviceTime(firestore.environment)
        state.withLock { state in
            state.clock.learn(readTime, at: now)
            guard let first = settled.first.flatMap(position),
                let last = settled.last.flatMap(position),
                settled.last == snapshot.documents.last
            else { return }
            let isWhole = max(snapshot.named ?? 0, snapshot.count) < limit
            let lower = isWhole ? state.floor : CoveragePosition.before(last.time, last.path)
            let upper = CoveragePosition.after(first.time, first.path)
            if lower < upper { state.progress.insert(lower..<upper, asOf: readTime) }
        }
    }

    private func position(
        _ document: QueryDocumentSnapshot
    ) -> (time: Timestamp, path: DocumentPath)? {
        guard case .timestamp(let time)? = document.fields?[order] else { return nil }
        return (time, document.documentPath)
    }

    /// The earliest time at which a complete range still counts. Until the server has answered in
    /// this launch, the device's clock decides: a clock that is ahead costs reads, and a clock that
    /// is behind shows older rows.
    private var oldest: Timestamp {
        guard let maxAge = disk.maxAge else { return .min }
        let device = DeviceTime(firestore.environment)
        let now = state.withLock { $0.clock.estimate(at: device) } ?? device.wall
        return now.advanced(by: .zero - maxAge)
    }

    // MARK: Pages

    /// Returns the next rows below a position: from disk for ranges that the device has completely,
    /// otherwise from the server.
    func page(below place: PagePosition, limit: Int) async throws(FirestoreError) -> Page {
        try await load()
        var reached = CoveragePosition.highest
        if case .timestamp(let time) = place.value { reached = .before(time, place.path) }
        var page = Page(rows: [], isLast: false)
        let floor = state.withLock(\.floor)
        // These rows are available without a server, which the rows below may need.
        page.rows = try await unsettledRows(below: place, limit)
        if !page.rows.isEmpty { return page }
        page.isLast = reached <= floor
        for _ in 0..<Self.maxParts where page.rows.count < limit && !page.isLast {
            let (oldest, wanted) = (oldest, limit - page.rows.count)
            let lower: CoveragePosition
            switch state.withLock({ $0.progress.part(below: reached, asOf: oldest) }) {
            // The rows that were read are shown, even if the record of the gap has changed by now.
            // No row is read twice.
            case .gap(let end):
                lower = try await fill(reached, downTo: max(end ?? .lowest, floor), wanted)
            case .held(let end): lower = max(end, floor)
            }
            page.rows += try await rows(reached, downTo: lower, wanted)
            reached = lower
            // A full page ends above the floor: there may be more rows before it.
            page.isLast = lower == floor && page.rows.count < limit
        }
        try await save()
        return page
    }

    private func part(
        _ upper: CoveragePosition, downTo lower: CoveragePosition
    ) -> QueryValue {
        var part = query
        if upper != .highest { part.start = upper.cursor(in: firestore.databaseID) }
        if lower != .lowest { part.end = lower.cursor(in: firestore.databaseID) }
        return part
    }

    private func rows(
        _ upper: CoveragePosition, downTo lower: CoveragePosition, _ count: Int
    ) async throws(FirestoreError) -> [Row] {
        let part = part(upper, downTo: lower)
        let disk = disk
        let found: CachedRows = try await answer { finish in
            engine.cachedRows(
                of: part, first: count,
                where: { disk.deletedField == nil || !disk.isDeleted($0.fields) },
                completion: finish)
        }
        return found.documents.compactMap(row(of:))
    }

    /// Returns the own rows below a row whose time the server has not set yet: they come before all
    /// settled rows.
    private func unsettledRows(
        below place: PagePosition, _ count: Int
    ) async throws(FirestoreError) -> [Row] {
        guard place.isUnsettled else { return [] }
        var above = plain
        above.orders = query.orders
        above.end = Cursor(values: [.timestamp(.max)], before: true)
        let (asked, order, disk) = (above, order, disk)
        let found: CachedRows = try await answer { finish in
            engine.cachedRows(
                of: asked, first: count,
                where: { document in
                    guard let value = document.fields[order] else { return false }
                    let its = PagePosition(value: value, path: document.path)
                    return its.isUnsettled && place < its && !disk.isDeleted(document.fields)
                },
                completion: finish)
        }
        return found.documents.compactMap(row(of:))
    }

    /// Reads rows of a gap, and stores together with them that their range is known.
    ///
    /// - Returns: The lower end of the known range.
    private func fill(
        _ upper: CoveragePosition, downTo lower: CoveragePosition, _ count: Int
    ) async throws(FirestoreError) -> CoveragePosition {
        let gap = part(upper, downTo: lower)
        var asked = gap
        asked.limit = .first(count)
        let (request, key, environment) = (asked, key, firestore.environment)
        let made = ResultBox<CoveragePosition>()
        let reached: @Sendable ([Document]) -> CoveragePosition = { [order] rows in
            guard rows.count == count, let last = rows.last,
                case .timestamp(let time)? = last.fields[order]
            else { return lower }
            return .before(time, last.path)
        }
        let _: ReadResult = try await answer { finish in
            engine.fetch(
                request, deadline: firestore.readDeadline, tag: .current,
                // A row that was deleted after the cache received it must not be shown in the page.
                replacing: { [self] in part(upper, downTo: reached($0)) },
                records: { [self] rows, readTime in
                    made.set(reached(rows))
                    let now = DeviceTime(environment)
                    return state.withLock { state in
                        state.clock.learn(readTime, at: now)
                        state.progress.insert(reached(rows)..<upper, asOf: readTime)
                        return [key: state.progress.encoded]
                    }
                },
                completion: finish)
        }
        guard let end = made.value else { preconditionFailure("what is read is noted") }
        return end
    }

    /// Stores the progress. From then on the cache keeps the collection's documents, regardless of
    /// their number. If a page changed nothing in the progress, nothing is written.
    private func save() async throws(FirestoreError) {
        let (progress, query) = (state.withLock(\.progress), query)
        if state.withLock({ $0.saved == progress }) { return }
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.setRecord(progress.encoded, forKey: key, keeping: query) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
        state.withLock { $0.saved = progress }
    }

    // MARK: Changes

    /// Returns the documents that changed since the last call, in their present state; nil for a
    /// document that is no row. Concurrent calls share a single request.
    func changes() async throws(FirestoreError) -> [DocumentPath: Row?] {
        let task = state.withLock { state in
            let task = state.asking ?? Task { await self.ask() }
            state.asking = task
            return task
        }
        return try await task.value.get()
    }

    private func ask() async -> Result<[DocumentPath: Row?], FirestoreError> {
        defer { state.withLock { $0.asking = nil } }
        do throws(FirestoreError) { return .success(try await askAll()) } catch {
            return .failure(error)
        }
    }

    private func askAll() async throws(FirestoreError) -> [DocumentPath: Row?] {
        guard let changeTime = disk.changeTime else { return [:] }
        try await load()
        var changed: Set<DocumentPath> = []
        for _ in 0..<Self.maxCalls {
            let cursor = state.withLock(\.progress.cursor)
            guard cursor.readTime != nil || cursor.drain != nil else { break }
            changed.formUnion(try await drain(cursor, changeTime))
            if state.withLock({ $0.progress.cursor.drain == nil }) { break }
        }
        return try await looks(of: changed)
    }

    /// Makes a single call.
    private func drain(
        _ cursor: ChangeCursor, _ changeTime: FieldPath
    ) async throws(FirestoreError) -> [DocumentPath] {
        let since = cursor.drain.map(\.since) ?? cursor.since
        // A changed document may have lost the time that orders the pages.
        var asked = plain.above(since ?? .min, changeTime, orEqual: true)
        asked.orders = [Order(changeTime), Order(.documentID)]
        asked.limit = .first(Self.changesPerCall)
        if let drain = cursor.drain {
            let name = ReferenceValue(database: firestore.databaseID, path: drain.lastPath)
            asked.start = Cursor(
                values: [.timestamp(drain.lastChangeTime), .reference(name)], before: false)
        }
        let made = ResultBox<[DocumentPath]>()
        let (request, key, environment) = (asked, key, firestore.environment)
        let _: ReadResult = try await answer { finish in
            engine.fetch(
                request, deadline: firestore.readDeadline, tag: .current,
                records: { [self] documents, readTime in
                    let rows = documents.map { ChangeCursor.Row($0, changeTime) }
                    let now = DeviceTime(environment)
                    return state.withLock { state in
                        state.clock.learn(readTime, at: now)
                        let fresh = state.progress.receive(
                            rows, readTime: readTime,
                            isLast: rows.count < Self.changesPerCall)
                        made.set(fresh.map(\.path))
                        return [key: state.progress.encoded]
                    }
                },
                completion: finish)
        }
        return made.value ?? []
    }

    private func looks(
        of paths: Set<DocumentPath>
    ) async throws(FirestoreError) -> [DocumentPath: Row?] {
        if paths.isEmpty { return [:] }
        let (query, all) = (query, Array(paths))
        let views: [DocumentPath: ViewDocument?] = try await answer { finish in
            engine.cachedDocuments(at: all, andWrittenIn: query, completion: finish)
        }
        return rows(of: views)
    }

    /// Returns the rows of documents; nil for a document that is no row.
    private func rows(of views: [DocumentPath: ViewDocument?]) -> [DocumentPath: Row?] {
        let prepared = PreparedQuery(plain, in: firestore.databaseID)
        return views.mapValues { view in
            guard let view, prepared.matches(view.path, view.document.fields),
                view.document.fields[order]?.isTime == true, !disk.isDeleted(view.document.fields)
            else { return nil }
            return row(of: view)
        }
    }

    private func row(of view: ViewDocument) -> Row? {
        let document = firestore.cachedSnapshot(of: view)
        return document.fields?[order].map { value in
            Row(
                PagePosition(value: value, path: view.path), document,
                isPending: view.hasPendingWrites)
        }
    }
}

extension Value {
    /// True for a time, and for a time that the server has not set yet.
    fileprivate var isTime: Bool {
        switch self {
        case .timestamp, .pendingServerTimestamp: true
        default: false
        }
    }
}

extension Query {
    /// Restricts a query to times, in descending order. The limits are cursors, because a condition
    /// would exclude a time that the server has not set yet: such a row is above all known times.
    ///
    /// - Parameter time: The time whose rows, and all below, are excluded; nil to exclude none.
    func times(above time: Timestamp? = nil) throws(FirestoreError) -> Query {
        var value = try runnable()
        // Texts are the next values above all times.
        value.start = Cursor(values: [.string("")], before: false)
        value.end = Cursor(values: [.timestamp(time ?? .min)], before: time != nil)
        return Query(firestore, value)
    }
}

extension ParsedPagesFromDisk {
    func isDeleted(_ fields: MapValue) -> Bool {
        guard let deletedField, let value = fields[deletedField] else { return false }
        return value != .null
    }
}

extension ChangeCursor.Row {
    fileprivate init(_ document: Document, _ changeTime: FieldPath) {
        var time = document.updateTime
        if case .timestamp(let changed)? = document.fields[changeTime] { time = changed }
        self.init(path: document.path, changeTime: time, updateTime: document.updateTime)
    }
}
