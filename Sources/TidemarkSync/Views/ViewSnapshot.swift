public import TidemarkModel

/// A query's rows at one moment, and what changed since the listener's last snapshot.
///
/// It shares its rows with the view it is of: that costs nothing while nobody keeps it beyond the
/// next change, and a copy of a word a row when somebody does.
public struct ViewSnapshot: Sendable {
    public var query: Query { shape.query.query }
    private let shape: ViewShape
    /// Every row as an added one is made when it is asked for, which costs a pass over the rows.
    public var changes: [ViewChange] {
        get { listed ?? rows.documents.map { ViewChange(.added, $0) } }
        set { listed = newValue }
    }
    public var isFromCache: Bool
    public var hasPendingWrites: Bool
    /// Whether the cache and the server agree since the last snapshot on something else than rows.
    public var syncStateChanged: Bool
    /// As of when the server confirmed it; nil for one that no server has.
    public var readTime: Timestamp?
    /// Why it is from the cache, when that is not for want of a network.
    public var staleReason: StaleReason?
    /// How many documents the server has named as the query's, also such as a write that waits keeps out
    /// of the rows; 0 where it has named none yet.
    package let syncedCount: Int
    /// Whether the rows are those documents and no others: where no write waits and none has been
    /// changed since ``readTime``, they are the query's whole result as of then.
    package let showsTarget: Bool
    private let rows: ShownRows
    private var before: Before
    /// The changes; nil where all rows are added ones.
    private var listed: [ViewChange]?

    /// The rows of the snapshot before, told from these.
    private enum Before {
        case none
        /// Without the added ones, and with the replaced ones as they were.
        case difference(ChangeSet)
    }

    /// - Parameter changes: Nil when there was no snapshot before: all rows are new then.
    init(
        _ shape: ViewShape, rows: DocumentSet, changes: ChangeSet?, isFromCache: Bool,
        hasPendingWrites: Bool, syncStateChanged: Bool, readTime: Timestamp?, syncedCount: Int,
        showsTarget: Bool
    ) {
        self.shape = shape
        self.isFromCache = isFromCache
        self.hasPendingWrites = hasPendingWrites
        self.syncStateChanged = syncStateChanged
        self.readTime = readTime
        self.syncedCount = syncedCount
        self.showsTarget = showsTarget
        self.rows = rows.shown
        if let changes, !changes.isEverything {
            listed = changes.sorted(rows.order)
            before = .difference(changes)
        } else {
            before = .none
        }
    }

    /// Whether ``changes`` has any.
    var hasChanges: Bool { listed.map { !$0.isEmpty } ?? (rows.count > 0) }

    /// Leaves out changes of nothing but a document's metadata.
    mutating func dropMetadataChanges() {
        if listed?.contains(where: { $0.kind == .metadata }) == true {
            listed!.removeAll { $0.kind == .metadata }
        }
    }

    public var count: Int { rows.count }

    /// In the query's order. Made when it is asked for, which costs a pass over the rows.
    public var documents: [ViewDocument] { rows.documents }

    /// Those of the snapshot before, in the query's order; likewise.
    public var oldDocuments: [ViewDocument] {
        guard case .difference(let changes) = before else { return [] }
        let rows = rows.rows(shape.order)
        let (added, replaced) = (changes.added, changes.replaced)
        if replaced.isEmpty {
            return rows.lazy.filter { !added.contains($0.path) }.map(\.document)
        }
        let changed = Set(replaced.map(\.path))
        var old = rows.filter { !added.contains($0.path) && !changed.contains($0.path) }
        old += replaced
        return old.sorted(by: shape.order.precedes).map(\.document)
    }

    /// As a listener sees it that has seen nothing before.
    mutating func becomeFirst() {
        before = .none
        listed = nil
        syncStateChanged = true
    }
}

extension ViewSnapshot: Hashable {
    public static func == (left: ViewSnapshot, right: ViewSnapshot) -> Bool {
        left.query == right.query && left.changes == right.changes
            && left.isFromCache == right.isFromCache
            && left.hasPendingWrites == right.hasPendingWrites
            && left.syncStateChanged == right.syncStateChanged && left.readTime == right.readTime
            && left.rows == right.rows && left.oldDocuments == right.oldDocuments
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(query)
        hasher.combine(changes)
        hasher.combine(readTime)
    }
}
