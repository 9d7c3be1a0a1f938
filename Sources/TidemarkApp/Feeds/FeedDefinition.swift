public import Tidemark

/// Which documents make a feed, and how its changes are known.
public struct FeedDefinition: Sendable {
    /// How a feed learns what has changed since it last asked.
    public enum Way: Hashable, Sendable {
        /// Every document carries a server time of its last change under the first name, set with
        /// `FieldValue.serverTimestamp()` by every write. Deletes are marked, not made: the second
        /// name is of a field that is neither missing nor null in a deleted document.
        ///
        /// Complete after any absence, at the price of the changes and of those in the overlap. Not
        /// seen, unless ``FeedDefinition/checksMembership``: documents that are really deleted, that
        /// come without the field, or that leave the query's filters.
        case changeTime(String, deletedField: String?)
        /// What is held is counted, by device and server, and where they differ it is counted in
        /// halves until the difference is found; only that part is read again. For documents that
        /// are really deleted, or written by those who set no time of change.
        ///
        /// Costs, beside what is new, a read for every 1,000 items held at each sync, and some 20
        /// for each difference. Found are deletes, late arrivals, and documents that joined or left
        /// the query's filters. Not seen by count alone: an edit, and a delete beside an insert in
        /// the same part. `version` names a field with a number that grows with every write: with
        /// its sum edits are found too, and a delete beside an insert as far as the sums differ. A
        /// number that no two documents share is best, such as the milliseconds of the last write.
        /// A sum over a range of item times needs a composite index of both fields.
        case audit(version: String? = nil)
        /// Only items from the newest that is held on are asked for, by their own time: the plain
        /// two timestamps. For what is written once, in order, and never changed or deleted.
        ///
        /// Costs what is new, and one. Not seen: edits, deletes, and whatever arrives with a time
        /// below the newest item that is held, such as what was written offline, or by a device
        /// whose clock is behind. Equal times are no trouble.
        case itemTime
    }

    /// The collection and the filters of the feed; without orders, limits and cursors.
    public var query: Query
    /// The field that items are shown by, newest first: a time, set by anyone. Documents in which it
    /// is none are not read.
    public var itemTime: String
    public var way: Way
    /// Rows a call. A smaller one loses less to a connection that breaks, at more round trips.
    public var pageSize: Int
    /// How far each delta reaches back behind the last one; at least 60 s.
    public var overlap: Duration
    /// Items shown at first, about two screens of them: what opening costs. More come with
    /// ``Feed/loadMore(_:)``. As newer items arrive, the oldest beyond this many leave the window.
    public var window: Int
    /// Whether a feed by change time also counts its documents, as ``Way/audit(version:)`` does: then
    /// those that were really deleted or left the filters go, and those without the field come. Syncs
    /// count; while a feed listens, these are found by its next sync.
    public var checksMembership: Bool
    public var sharedMark: SharedMark?
    /// How many items the device holds at the least: the newest above the clear mark. Nil, the default,
    /// for all of them.
    ///
    /// With a limit the first sync reads so many items, however long the feed is. After an absence of three
    /// days or more, a sync counts the changes first, at one read: if they are as many as the limit, it reads
    /// its newest items, else the changes. After a shorter absence it reads no more than so many changes and
    /// so many items. Older items come with ``Feed/loadMore(_:)``, from the server where the device does not hold them, and are held from then
    /// on. What is held is kept right in the feed's ``way``, as without a limit. A window shows no more
    /// than the limit at first.
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

/// A definition with its texts parsed and its rules checked.
package struct ParsedDefinition: Sendable {
    let query: QueryValue
    let itemTime: FieldPath
    /// Only where changes are known by it.
    let changeTime: FieldPath?
    let deletedField: FieldPath?
    let version: FieldPath?
    private(set) var rules: FeedRules
    let window: Int
    let shared: SharedMarkFields?
    /// Under which the feed keeps its records: another definition begins anew.
    let key: String

    package init(_ definition: FeedDefinition) throws(FirestoreError) {
        let shared = try definition.sharedMark.map(SharedMarkFields.init)
        try self.init(
            definition.query.runnable(), itemTime: definition.itemTime, way: definition.way,
            pageSize: definition.pageSize, overlap: definition.overlap, window: definition.window,
            checksMembership: definition.checksMembership, shared: shared,
            limit: definition.limit)
    }

    /// - Throws: `invalidArgument` for what makes no sense.
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

    /// A document as the feed's books see it.
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
        /// For a test that is to see it found.
        package mutating func plant(_ defects: PlantedDefects) { rules.defects = defects }
    }
#endif
