public import TidemarkModel

/// A query's rows at one moment, and the changes since the listener's last snapshot.
///
/// A snapshot shares its rows with its view. This costs nothing if the snapshot is released before
/// the next change, and otherwise a copy with one word per row.
public struct ViewSnapshot: Sendable {
    public var query: Query { shape.query.query }
    private let shape: ViewShape
    /// The changes. If every row is an added one, the changes are made on each access, which costs
    /// a pass over the rows.
    public var changes: [ViewChange] {
        get { listed ?? rows.documents.map { ViewChange(.added, $0) } }
        set { listed = newValue }
    }
    public var isFromCache: Bool
    public var hasPendingWrites: Bool
    /// True if something besides rows changed between the cache and the server since the last
    /// snapshot.
    public var syncStateChanged: Bool
    /// The time at which the server confirmed the rows; nil if it has not.
    public var readTime: Timestamp?
    /// The reason why the rows are from the cache, unless the cause is a missing network.
    public var staleReason: StaleReason?
    /// The number of documents that the server named for the query, including documents that a
    /// pending write hides; 0 before the server named any.
    package let syncedCount: Int
    /// True if the rows are exactly those documents. Without a pending write and without a change
    /// since ``readTime``, the rows are the query's whole result at that time.
    package let showsTarget: Bool
    private let rows: ShownRows
    private var before: Before
    /// The changes; nil if all rows are added ones.
    private var listed: [ViewChange]?

    /// The rows of the previous snapshot, as a difference.
    private enum Before {
        case none
        /// The previous rows are the present ones without the added ones, and with the earlier
        /// state of the replaced ones.
        case difference(ChangeSet)
    }

    /// - Parameter changes: The changes; nil if there was no previous snapshot, because then all
    ///   rows are new.
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

    /// True if ``changes`` is not empty.
    var hasChanges: Bool { listed.map { !$0.isEmpty } ?? (rows.count > 0) }

    /// Removes changes that affect only a document's metadata.
    mutating func dropMetadataChanges() {
        if listed?.contains(where: { $0.kind == .metadata }) == true {
            listed!.removeAll { $0.kind == .metadata }
        }
    }

    public var count: Int { rows.count }

    /// The documents in the query's order. Each access costs a pass over the rows.
    public var documents: [ViewDocument] { rows.documents }

    /// The documents of the previous snapshot in the query's order. Each access costs a pass over
    /// the rows.
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

    /// Changes the snapshot to the form for a listener that has seen nothing yet.
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
