import Tidemark
import TidemarkApp
import TidemarkModel
import TidemarkSync

/// A pager's machine in a process of a device, on the listeners of its engine. Remembers the parts
/// that the server has confirmed, with their read times.
final class HistoryPager {
    typealias Machine = PageMachine<HistoryContent>

    /// A part of the collection, as the server held it at a time.
    struct Told {
        let range: Range<PageEdge>
        let readTime: Timestamp
        /// The first row of the part. More rows may have been added above it since.
        let newest: PageEdge
    }

    private struct Window {
        let after: PagePosition?
        let limit: Int
        var handle: (any CancellableCall)?
        var told: [Told] = []
        /// The state of the last snapshot.
        var isFromCache = true
    }

    let process: WorldProcess
    private(set) var machine: Machine
    private unowned let device: HistoryDevice
    private let engine: SyncEngine
    private var windows: [Machine.WindowID: Window] = [:]
    private var ended: [Told] = []

    private static let createdAt = FieldPath(name: "createdAt")

    /// - Precondition: The device's app is running.
    init(_ device: HistoryDevice) {
        guard let engine = device.client.engine else { preconditionFailure("no app runs") }
        self.device = device
        self.engine = engine
        process = device.client.process
        machine = Machine(pageSize: 4)
        #if TIDEMARK_DEFECTS
            machine.defects = device.history.settings.defects
        #endif
    }

    /// Returns the query for all rows, in the order of the pages.
    static func query(_ parameters: FeedHistoryParameters) -> QueryValue {
        var query = HistoryDevice.query(parameters)
        query.orders = [Order(createdAt, .descending), Order(.documentID, .descending)]
        return query
    }

    func loadMore() { step(.loadMore) }

    private func step(_ event: Machine.Event) {
        guard process.isAlive else { return }
        for effect in machine.step(event) {
            switch effect {
            case .stop(let id): end(id)
            case .listen(let id, let after, let limit):
                listen(id, after: after, limit: limit)
            case .load: preconditionFailure("every page of a history listens")
            }
        }
        if let fault = device.history.oracle.fault(of: machine.rows.map(\.position)) {
            device.history.world.violate(.pagerOrder, "\(device.name)'s pager shows \(fault)")
        }
    }

    private func listen(_ id: Machine.WindowID, after: PagePosition?, limit: Int) {
        windows[id] = Window(after: after, limit: limit)
        var query = Self.query(device.history.parameters)
        query.limit = .first(limit)
        if let after {
            let name = ReferenceValue(database: World.database, path: after.path)
            query.start = Cursor(values: [after.value, .reference(name)], before: false)
        }
        let sink = WorldBox { [weak self] in self }
        let handle = engine.listen(query, .init(includeMetadataChanges: true)) { event in
            sink.value()?.hear(id, event)
        }
        if windows[id] == nil { handle.cancel() }
        windows[id]?.handle = handle
    }

    private func hear(_ id: Machine.WindowID, _ event: Result<ViewSnapshot, SyncError>) {
        guard process.isAlive, windows[id] != nil else { return }
        switch event {
        case .failure(let error):
            device.history.note("\(device.name)'s page \(id) fails: \(error)")
            end(id)
            step(.failed(id, FirestoreError(error)))
        case .success(let snapshot):
            let rows = snapshot.documents.compactMap { view in
                view.document.fields[Self.createdAt].map { value in
                    PageRow(
                        PagePosition(value: value, path: view.path), HistoryContent(view),
                        isPending: view.hasPendingWrites)
                }
            }
            note(rows, snapshot, of: id)
            step(
                .snapshot(
                    id, rows, isFromCache: snapshot.isFromCache, named: snapshot.syncedCount))
        }
    }

    private func note(
        _ rows: [Machine.Row], _ snapshot: ViewSnapshot, of id: Machine.WindowID
    ) {
        guard var window = windows[id] else { return }
        let upper = window.after.map { PageEdge.after($0) } ?? .newest
        // A pending row says nothing about the server's rows below it.
        let settled = rows.filter { !$0.isPending }
        let isShort =
            max(settled.count, snapshot.syncedCount) < window.limit && !snapshot.isFromCache
        let lower = isShort ? .oldest : settled.last.map { PageEdge.after($0.position) } ?? upper
        window.isFromCache = snapshot.isFromCache
        if upper < lower, let readTime = snapshot.readTime, !snapshot.isFromCache {
            window.told.append(
                Told(
                    range: upper..<lower, readTime: readTime,
                    newest: rows.first.map { .before($0.position) } ?? lower))
        }
        windows[id] = window
    }

    private func end(_ id: Machine.WindowID) {
        guard let window = windows.removeValue(forKey: id) else { return }
        window.handle?.cancel()
        ended += window.told
    }

    // MARK: What it should show

    /// The rows and the number of writes at a comparison.
    struct Compared: Equatable {
        let rows: [Machine.Row]
        let writes: Int
    }

    /// The read time of the page that was confirmed first; nil if a page is not confirmed.
    var firstReadTime: Timestamp? { windows.values.compactMap { $0.told.last?.readTime }.min() }

    /// True if the server has confirmed all pages, and the first page is among them.
    var isCurrent: Bool {
        windows.values.contains { $0.after == nil }
            && windows.values.allSatisfy { !$0.isFromCache && !$0.told.isEmpty }
    }

    /// Returns the fault in the shown rows when nothing has been written for a while; nil if there
    /// is none.
    func fault(_ documents: [Document], _ parameters: FeedHistoryParameters) -> String? {
        let truth = Self.query(parameters).rows(of: documents).compactMap { document in
            document.fields[Self.createdAt].map {
                (PagePosition(value: $0, path: document.path), document)
            }
        }
        let shown = Dictionary(uniqueKeysWithValues: machine.rows.map { ($0.path, $0) })
        let live = windows.values.compactMap { $0.told.last?.range }
        let bottom = machine.rows.last?.position
        let isWhole = !machine.hasMore
        for (position, document) in truth {
            guard isWhole || bottom.map({ !($0 < position) }) ?? false else { continue }
            guard let told = lastTold(of: position) else {
                return "\(document.path.id) is in a part that nobody told of"
            }
            if let row = shown[document.path], row.position == position,
                row.content.number == document.number
            {
                continue
            }
            if document.updateTime <= told { return "\(document.path.id) is missing" }
        }
        let there = Dictionary(uniqueKeysWithValues: truth.map { ($0.1.path, $0) })
        for row in machine.rows where live.contains(where: { $0.contains(row.position) }) {
            guard let (position, document) = there[row.path], position == row.position,
                document.number == row.content.number
            else { return "\(row.path.id) is shown where it is not" }
        }
        return nil
    }

    /// Returns the read time at which the part with a position was last confirmed; the maximum if a
    /// page listens to it.
    private func lastTold(of position: PagePosition) -> Timestamp? {
        if windows.values.contains(where: { $0.told.last?.range.contains(position) ?? false }) {
            return .max
        }
        let earlier = ended + windows.values.flatMap { $0.told.dropLast() }
        return earlier.filter { told in
            let lower = max(told.range.lowerBound, told.newest)
            return lower < told.range.upperBound
                && (lower..<told.range.upperBound).contains(position)
        }.map(\.readTime).max()
    }
}
