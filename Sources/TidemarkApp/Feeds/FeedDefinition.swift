public import Tidemark

/// The definition of a feed: its documents, and the way in which changes are found.
public struct FeedDefinition: Sendable {
    /// The way in which a feed finds the changes since its last request.
    public enum Way: Hashable, Sendable {
        /// Every document has a server time of its last change in the first field, and every write
        /// sets it with `FieldValue.serverTimestamp()`. Documents are not deleted but marked: in a
        /// deleted document, the second field is neither missing nor null.
        ///
        /// This way is complete after any absence. It costs the changes, and those in the overlap
        /// again. Unless ``FeedDefinition/checksMembership`` is true, it does not find documents
        /// that are really deleted, that lack the field, or that leave the query's filters.
        case changeTime(String, deletedField: String?)
        /// The device and the server count the held items. If the counts differ, halves are counted
        /// until the difference is found, and only that part is read again. Use this for documents
        /// that are really deleted, or that are written by others without a time of change.
        ///
        /// Each sync costs the new items, one read for every 1,000 held items, and about 20 reads
        /// for each difference. It finds deletes, late arrivals, and documents that joined or left
        /// the query's filters. The count alone does not find an edit, or a delete and an insert in
        /// the same part. `version` names a field with a number that grows with every write. With
        /// its sum, edits are found too, and a delete and an insert in the same part if the sums
        /// differ. The best number is one that no two documents share, such as the milliseconds of
        /// the last write. A sum over a range of item times needs a composite index of both fields.
        case audit(version: String? = nil)
        /// Only items from the newest held item on are requested, by their own time. Use this for
        /// documents that are written once, in order, and never changed or deleted.
        ///
        /// A sync costs the new items and one read. It does not find edits, deletes, and items that
        /// arrive with a time below the newest held item, for example from an offline device or
        /// from a device whose clock is behind. Equal times are allowed.
        case itemTime
    }

    /// The collection and the filters of the feed, without orders, limits and cursors.
    public var query: Query
    /// The field with the time by which items are shown, newest first. Any writer can set it.
    /// Documents in which it is not a time are not read.
    public var itemTime: String
    public var way: Way
    /// The number of rows of a call. A smaller number loses less when a connection breaks, and
    /// needs more round trips.
    public var pageSize: Int
    /// The time by which each read of changes begins before the end of the last one; at least 60 s.
    public var overlap: Duration
    /// The number of items shown at first, about two screens. It determines the cost of opening.
    /// ``Feed/loadMore(_:)`` shows more. When newer items arrive, the oldest beyond this number
    /// leave the window.
    public var window: Int
    /// True if a feed by change time also counts its documents, like ``Way/audit(version:)``. Then
    /// documents that were really deleted or left the filters are removed, and those without the
    /// field are found. Only syncs count: while a feed listens, its next sync finds these changes.
    public var checksMembership: Bool
    public var sharedMark: SharedMark?
    /// The number of items that the device holds at least: the newest above the clear mark. Nil,
    /// the default, holds all items.
    ///
    /// With a limit, the first sync reads this number of items, however long the feed is. After an
    /// absence of three days or more, a sync first counts the changes, for one read. If there are
    /// as many as the limit, the sync reads the newest items, otherwise the changes. After a
    /// shorter absence it reads at most this number of changes and this number of items.
    /// ``Feed/loadMore(_:)`` adds older items, from the server if the device does not hold them,
    /// and they are held from then on. Held items stay correct in the feed's ``way``, as without a
    /// limit. At first a window shows at most this number of items.
    public var limit: Int?

    public init(
        query: Query, itemTime: String, way: Way, pageSize: Int = 500,
        overlap: Duration = .seconds(300), window: Int = 50, checksMembership: Bool = false,
        sharedMark: SharedMark? = nil, limit: Int? = nil
    ) {
        self.query = query
        self.itemTime = itemTime
        self.way = way
        self.pageSize = pageSize
        self.overlap = overlap
        self.window = window
        self.checksMembership = checksMembership
        self.sharedMark = sharedMark
        self.limit = limit
    }
}

/// A definition with parsed texts and checked rules.
package struct ParsedDefinition: Sendable {
    let query: QueryValue
    let itemTime: FieldPath
    /// The field of the change time; nil for other ways.
    let changeTime: FieldPath?
    let deletedField: FieldPath?
    let version: FieldPath?
    private(set) var rules: FeedRules
    let window: Int
    let shared: SharedMarkFields?
    /// The key of the feed's records. Another definition has another key, and begins anew.
    let key: String

    package init(_ definition: FeedDefinition) throws(FirestoreError) {
        let shared = try definition.sharedMark.map(SharedMarkFields.init)
        try self.init(
            definition.query.runnable(), itemTime: definition.itemTime, way: definition.way,
            pageSize: definition.pageSize, overlap: definition.overlap, window: definition.window,
            checksMembership: definition.checksMembership, shared: shared,
            limit: definition.limit)
    }

    /// - Throws: `invalidArgument` for an invalid definition.
    package init(
        _ query: QueryValue, itemTime: String, way: FeedDefinition.Way, pageSize: Int = 500,
        overlap: Duration = .seconds(300), window: Int = 50, checksMembership: Bool = false,
        shared: SharedMarkFields? = nil, limit: Int? = nil,
        longAbsence: Duration = FeedRules.longAbsence
    ) throws(FirestoreError) {
        guard query.orders.isEmpty, query.limit == nil, query.start == nil, query.end == nil else {
            throw .invalidArgument("The query of a feed must have no order, limit or cursor.")
        }
        guard (1...10_000).contains(pageSize) else {
            throw .invalidArgument("A page must have 1 to 10,000 rows, not \(pageSize).")
        }
        guard window > 0 else {
            throw .invalidArgument("A window must show at least 1 item, not \(window).")
        }
        if let limit, limit <= 0 {
            throw .invalidArgument("A feed must hold at least 1 item, not \(limit).")
        }
        self.query = query
        self.itemTime = try itemTime.resolved()
        let kind: FeedRules.Way
        let name: String
        switch way {
        case .changeTime(let field, let deleted):
            let field = try field.resolved()
            (changeTime, version) = (field, nil)
            deletedField = try deleted?.resolved()
            (kind, name) = (.changeTime(audited: checksMembership), field.encoded)
        case .audit(let field):
            version = try field?.resolved()
            (changeTime, deletedField) = (nil, nil)
            (kind, name) = (.audit, "#audit")
        case .itemTime:
            (changeTime, deletedField, version) = (nil, nil, nil)
            (kind, name) = (.itemTime, "#itemTime")
        }
        rules = FeedRules(way: kind, pageSize: pageSize, overlap: overlap, limit: limit)
        rules.longAbsence = longAbsence
        self.window = min(window, limit ?? window)
        self.shared = shared
        key = "feed/\(query.canonicalID)/\(self.itemTime.encoded)/\(name)"
    }

    package var settings: FeedSettings {
        FeedSettings(
            rules: rules, window: window, sharesMarks: shared != nil,
            sharesConsumption: shared?.consumption != nil)
    }

    /// - Precondition: The marks are shared.
    var sharedPath: DocumentPath {
        guard let shared else { preconditionFailure("nothing is shared") }
        return shared.path
    }

    var marksKey: String { key + "/marks" }
    var progressKey: String { key + "/progress" }

    /// Returns the row of a document in the feed's records.
    func bookRow(_ document: Document) -> FeedBookRow {
        FeedBookRow(
            path: document.path, itemTime: Self.time(document.fields[itemTime]),
            changeTime: changeTime.flatMap { Self.time(document.fields[$0]) },
            updateTime: document.updateTime)
    }

    static func time(_ value: Value?) -> Timestamp? {
        switch value {
        case .timestamp(let time)?: time
        case .pendingServerTimestamp(let localWriteTime, _)?: localWriteTime
        default: nil
        }
    }
}

#if TIDEMARK_DEFECTS
    extension ParsedDefinition {
        /// Plants defects, for a test that checks that they are found.
        package mutating func plant(_ defects: PlantedDefects) { rules.defects = defects }
    }
#endif
