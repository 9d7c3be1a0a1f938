import TidemarkModel

/// A place in the queues, in the order of arrival.
typealias LockTicket = UInt64

/// The order in which transactions began. A retry keeps the place of its first attempt.
struct LockAge: Hashable, Comparable, Sendable {
    /// The number of the first attempt.
    let first: UInt64
    /// The number of this attempt.
    let own: UInt64

    static func < (left: LockAge, right: LockAge) -> Bool {
        (left.first, left.own) < (right.first, right.own)
    }
}

/// The party that requests access: a transaction, or a plain write, which holds no locks before or
/// after.
enum LockClaimant {
    case transaction(TransactionID, age: LockAge)
    case plain
}

/// The reads or the changes of a command.
enum LockAccess {
    case read(LockedReading)
    case write([LockedChange])

    var isWrite: Bool {
        switch self {
        case .read: false
        case .write: true
        }
    }

    /// The named documents, in order.
    var documents: [DocumentPath] {
        switch self {
        case .read(let reading): reading.documents
        case .write(let changes): changes.map(\.path)
        }
    }
}

/// The reads of a transaction: documents, including missing ones, and all possible results of a
/// query.
struct LockedReading {
    var documents: [DocumentPath] = []
    var query: LockedQuery?
}

/// A document that a commit writes, decoded; both values are nil if it stays missing, or if the
/// commit would be refused.
struct LockedChange {
    let path: DocumentPath
    let before: MapValue?
    let after: MapValue?
}

/// The predicate of a query: its collections and its filter. Order, cursors, offset and limit do
/// not reduce the locked documents. Source: server-production-facts 6.
struct LockedQuery: Hashable {
    private let prepared: PreparedQuery
    /// The place in which a write can touch the query.
    let place: Place

    /// The place of the documents that a query may return.
    enum Place: Hashable {
        case collection(CollectionPath)
        /// The id of the collections alone, as a path of a single segment, because such paths are
        /// compared by bytes.
        case group(CollectionPath)
        case everywhere
    }

    init(_ query: Query, in database: DatabaseID) {
        let predicate = Query(
            parent: query.parent, collectionID: query.collectionID,
            allDescendants: query.allDescendants, filter: query.filter)
        prepared = PreparedQuery(predicate, in: database)
        if let collection = predicate.collection {
            place = .collection(collection)
        } else if predicate.allDescendants, let id = predicate.collectionID {
            place = .group(CollectionPath(unchecked: id))
        } else {
            place = .everywhere
        }
    }

    /// Returns true if the document is locked by the query before or after the change.
    func isTouched(by change: LockedChange) -> Bool {
        guard prepared.query.contains(change.path) else { return false }
        if let before = change.before, prepared.matches(change.path, before) { return true }
        if let after = change.after, prepared.matches(change.path, after) { return true }
        return false
    }

    func isTouched(by changes: [LockedChange]) -> Bool { changes.contains { isTouched(by: $0) } }

    static func == (left: LockedQuery, right: LockedQuery) -> Bool {
        left.prepared.query == right.prepared.query
    }

    func hash(into hasher: inout Hasher) { hasher.combine(prepared.query) }
}
