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
        /// seen: documents that are really deleted, that lack the field, or that leave the query's
        /// filters.
        case changeTime(String, deletedField: String?)
    }

    /// The collection and the filters of the feed; without orders, limits and cursors.
    public var query: Query
    /// The field that items are shown by, newest first: a time, set by anyone.
    public var itemTime: String
    public var way: Way
    /// Rows a call. A smaller one loses less to a connection that breaks, at more round trips.
    public var pageSize: Int
    /// How far each delta reaches back behind the last one; at least 60 s.
    public var overlap: Duration
    /// Items shown at first, about two screens of them: what opening costs. More come with
    /// ``Feed/loadMore(_:)``. As newer items arrive, the oldest beyond this many leave the window.
    public var window: Int

    public init(
        query: Query, itemTime: String, way: Way, pageSize: Int = 500,
        overlap: Duration = .seconds(300), window: Int = 50
    ) {
        self.query = query
        self.itemTime = itemTime
        self.way = way
        self.pageSize = pageSize
        self.overlap = overlap
        self.window = window
    }
}

/// A definition with its texts parsed and its rules checked.
package struct ParsedDefinition: Sendable {
    let query: QueryValue
    let itemTime: FieldPath
    let changeTime: FieldPath
    let deletedField: FieldPath?
    let pageSize: Int
    let overlap: Duration
    let window: Int
    /// Under which the feed keeps its records: another definition begins anew.
    let key: String

    package init(_ definition: FeedDefinition) throws(FirestoreError) {
        query = try definition.query.runnable()
        guard query.orders.isEmpty, query.limit == nil, query.start == nil, query.end == nil else {
            throw .invalidArgument("A feed sets orders, limits and cursors itself.")
        }
        guard (1...10_000).contains(definition.pageSize) else {
            throw .invalidArgument("A page holds 1 to 10,000 rows, not \(definition.pageSize).")
        }
        guard definition.window > 0 else {
            throw .invalidArgument("A window shows at least 1 item, not \(definition.window).")
        }
        itemTime = try definition.itemTime.resolved()
        switch definition.way {
        case .changeTime(let field, let deleted):
            changeTime = try field.resolved()
            deletedField = try deleted?.resolved()
        }
        pageSize = definition.pageSize
        overlap = definition.overlap
        window = definition.window
        key = "feed/\(query.canonicalID)/\(itemTime.encoded)/\(changeTime.encoded)"
    }

    package var settings: FeedSettings {
        FeedSettings(pageSize: pageSize, overlap: overlap, window: window)
    }

    var marksKey: String { key + "/marks" }
    var progressKey: String { key + "/progress" }

    /// What a plan asks the server.
    func request(_ plan: ReadPlan, in database: DatabaseID) -> QueryValue {
        var result = query
        var conditions = result.filter.map { [$0] } ?? []
        conditions.append(
            .field(changeTime, .greaterThanOrEqual, .timestamp(plan.since ?? .min)))
        if let floor = plan.floor {
            conditions.append(.field(itemTime, .greaterThan, .timestamp(floor)))
        }
        result.filter = conditions.count == 1 ? conditions[0] : .and(conditions)
        result.orders = [Order(changeTime), Order(.documentID)]
        result.limit = .first(plan.pageSize)
        if let after = plan.after {
            let name = ReferenceValue(database: database, path: after.path)
            result.start = Cursor(
                values: [.timestamp(after.changeTime), .reference(name)], before: false)
        }
        return result
    }

    /// A row as the change cursor sees it. The request only finds documents with a change time.
    func row(_ document: Document) -> ChangeCursor.Row {
        let changeTime = Self.time(document.fields[changeTime]) ?? document.updateTime
        return ChangeCursor.Row(
            path: document.path, changeTime: changeTime, updateTime: document.updateTime)
    }

    static func time(_ value: Value?) -> Timestamp? {
        switch value {
        case .timestamp(let time)?: time
        case .pendingServerTimestamp(let localWriteTime, _)?: localWriteTime
        default: nil
        }
    }
}
