public import Tidemark

/// A pager's bill before it is paid: each request, with the rows of its answer, in reads and in the
/// units of the Enterprise edition.
///
/// ``Pager/plan(of:at:lastUse:)`` makes it from the content of the device. Then play the use:
/// the plan makes the pager's own decisions, and sends nothing.
///
/// ```swift
/// var plan = try await pager.plan(of: documents, at: now)
/// plan.start()
/// plan.loadMore()
/// let opening = plan.bill.reads
/// plan.commit([message])  // while the list is open
/// let each = plan.bill.reads - opening
/// ```
///
/// The bill is exact if the documents are those of the server, and
/// - each page has arrived before the next request;
/// - no answer is lost, because a lost answer is billed again;
/// - a document's order time changes only to a newer one;
/// - no other listener of the app has the same page;
/// - the server forgets a listener after 30 minutes, and then sends the names of a page as a bloom
///   filter of our server's size.
///
/// Reads of security rules are not part of it.
public struct PagerPlan: Sendable {
    private typealias Machine = PageMachine<ExpectedDocument>

    /// A page with a listener, as the server has it.
    private struct Window {
        let after: PagePosition?
        let limit: Int
        var rows: [ExpectedDocument]
    }

    /// The server's time of the next request. Move it on as time passes in the planned use.
    public var now: Timestamp
    /// The requests so far, in order.
    public private(set) var reads: [PlannedRead] = []

    private let query: PageQuery
    private var machine: Machine
    private var server: PlannedServer
    private var windows: [Int: Window] = [:]
    private var device: PlannedDisk
    private var targets: ListenedResults
    private let lastUse: ClosedRange<Timestamp>?
    private let emptyMachine: Machine

    init(
        _ query: PageQuery, pageSize: Int, loadsPages: Bool, maxRows: Int,
        documents: [ExpectedDocument], device: PlannedDisk, targets: ListenedResults,
        at now: Timestamp, lastUse: ClosedRange<Timestamp>?
    ) {
        self.query = query
        self.now = now
        self.device = device
        self.targets = targets
        self.lastUse = lastUse
        server = PlannedServer(documents)
        machine = Machine(pageSize: pageSize, loadsPages: loadsPages, maxRows: maxRows)
        if let cleared = query.cleared { _ = machine.step(.cleared(cleared)) }
        emptyMachine = machine
    }

    /// The bill of all ``reads``.
    public var bill: PlannedBill { reads.reduce(into: PlannedBill()) { $0 += $1.bill } }
    /// True if there may be older rows.
    public var hasMore: Bool { machine.hasMore }
    /// The number of rows that the list shows.
    public var count: Int { shown.count }
    /// The names of the shown rows, newest first.
    var shown: [DocumentPath] { machine.rows.filter { !$0.isHidden }.map(\.path) }

    /// Plays the begin of the pager: its newest page, and the changes of pages that the device
    /// holds.
    public mutating func start() {
        let effects = machine.step(.start)
        perform(effects)
        if !effects.isEmpty, device.hasEarlierPages { refresh() }
    }

    /// Plays the next older page. Does nothing if there is none.
    public mutating func loadMore() { perform(machine.step(.loadMore)) }

    /// Plays ``Pager/refresh()``.
    public mutating func refresh() {
        let (made, changed) = device.refresh(server, at: now)
        reads += made
        let rows = changed.map { ($0.path, $0.isMarkedDeleted ? nil : $0.pageRow) }
        perform(machine.step(.changed(Dictionary(rows) { $1 })))
    }

    /// Plays the end of the use. Then ``start()`` begins another one, of a new pager.
    public mutating func close() {
        for id in windows.keys { stop(id) }
        machine = emptyMachine
        device.close()
    }

    /// Plays a commit, of another user or of this device, that open pages receive.
    ///
    /// - Parameters:
    ///   - changed: The documents that are new or have changed, in their new state.
    ///   - deleted: The documents that are really deleted.
    public mutating func commit(
        _ changed: [ExpectedDocument], deleting deleted: [DocumentPath] = []
    ) {
        server.commit(changed, deleting: deleted)
        let paths = Set(changed.map(\.path)).union(deleted)
        for (id, window) in windows.sorted(by: { $0.key < $1.key }) {
            let rows = page(after: window.after, limit: window.limit)
            let isTouched = window.rows.contains { paths.contains($0.path) }
            guard rows != window.rows || isTouched else { continue }
            let read = changes(.live, from: window.rows.map(\.path), to: rows) {
                paths.contains($0.path)
            }
            if read.rows > 0 { reads.append(read) }
            show(rows, in: id)
        }
    }

    // MARK: Effects

    private mutating func perform(_ effects: [Machine.Effect]) {
        for effect in effects {
            switch effect {
            case .stop(let id): stop(id)
            case .listen(let id, let after, let limit): listen(id, after: after, limit: limit)
            case .load(let id, let after, let limit):
                let page = device.page(below: after, limit: limit, server, at: now)
                reads += page.reads
                perform(machine.step(.page(id, page.rows.map(\.pageRow), isLast: page.isLast)))
            }
        }
    }

    private func page(after place: PagePosition?, limit: Int) -> [ExpectedDocument] {
        server.rows(after: place, limit: limit, above: query.cleared)
    }

    private mutating func listen(_ id: Int, after place: PagePosition?, limit: Int) {
        let rows = page(after: place, limit: limit)
        let held = heldTarget(after: place, limit: limit)
        if let held, held.isRecent(at: now, lastUse: lastUse) {
            reads.append(
                changes(.resume, from: held.paths, to: rows) { $0.changedAt > held.heardAt })
            // The server names what it has deleted.
            for path in held.paths where server[path] == nil { device.held[path] = nil }
        } else {
            reads.append(.query(.page, rows))
            if held?.areMisled(by: rows.map(\.path), in: query.rows.firestore.databaseID) == true {
                reads.append(.query(.page, rows))
            }
        }
        windows[id] = Window(after: place, limit: limit, rows: rows)
        show(rows, in: id)
    }

    /// Ends a listener. The device keeps its rows, with which the next one resumes.
    private mutating func stop(_ id: Int) {
        guard let window = windows.removeValue(forKey: id),
            let asked = try? query.page(after: window.after, limit: window.limit).runnable()
        else { return }
        // Commits of one moment have later times than the clock.
        let heardAt = max(now, server.lastChange ?? now)
        let paths = window.rows.map(\.path)
        targets.put(asked, ListenedResults.Rows(heardAt: heardAt, paths: paths))
    }

    private mutating func heldTarget(
        after place: PagePosition?, limit: Int
    ) -> ListenedResults.Rows? {
        guard let asked = try? query.page(after: place, limit: limit).runnable() else { return nil }
        return targets.take(asked)
    }

    /// Looks up the documents that the device holds in a page and the server does not, each with a
    /// read.
    private mutating func lookUp(_ window: Window) {
        let paths = Set(window.rows.map(\.path))
        let place = window.after
        let end = window.rows.count < window.limit ? nil : window.rows.last?.position
        let unknown = device.held.values.sorted { $0.position < $1.position }.filter { document in
            !paths.contains(document.path)
                && (place.map { $0 < document.position } ?? true)
                && (end.map { document.position < $0 } ?? true)
                && (query.cleared.map { document.time > $0 } ?? true)
        }
        for document in unknown {
            let present = server[document.path]
            let bytes = present?.row.documentBytes ?? 0
            reads.append(PlannedRead(kind: .lookup, rows: 1, bill: .document(bytes: bytes)))
            device.held[document.path] = present
        }
    }

    /// Shows the confirmed rows of a page.
    private mutating func show(_ rows: [ExpectedDocument], in id: Int) {
        let gone = windows[id]?.rows.filter { server[$0.path] == nil } ?? []
        for document in gone { device.held[document.path] = nil }
        device.store(rows)
        windows[id]?.rows = rows
        if let window = windows[id] { lookUp(window) }
        if machine.loadsPages { device.heard(rows, limit: machine.pageSize, at: now) }
        perform(
            machine.step(
                .snapshot(id, rows.map(\.pageRow), isFromCache: false, named: rows.count)))
    }

    /// Returns the read of a page that has changed.
    private func changes(
        _ kind: PlannedRead.Kind, from old: [DocumentPath], to rows: [ExpectedDocument],
        isChanged: (ExpectedDocument) -> Bool
    ) -> PlannedRead {
        let shown = Dictionary(rows.map { ($0.path, $0) }) { first, _ in first }
        let found = PlannedBill.changes(
            from: old, to: rows.map { ($0.path, $0.row.documentBytes) },
            isChanged: { (shown[$0] ?? server[$0]).map(isChanged) ?? false })
        return PlannedRead(kind: kind, rows: found.rows, bill: found.bill)
    }
}
