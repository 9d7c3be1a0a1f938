import TidemarkModel

/// A place in the queues, in the order of arrival.
typealias LockTicket = UInt64

/// The order in which transactions began. A retry has the place of its first attempt.
struct LockAge: Hashable, Comparable, Sendable {
    /// When the first attempt began, counted.
    let first: UInt64
    /// When this attempt began.
    let own: UInt64

    static func < (left: LockAge, right: LockAge) -> Bool {
        (left.first, left.own) < (right.first, right.own)
    }
}

/// Who asks for access: a transaction, or a plain write, which holds nothing before or after.
enum LockClaimant {
    case transaction(TransactionID, age: LockAge)
    case plain
}

/// What a command is to read or to change.
enum LockAccess {
    case read(LockedReading)
    case write([LockedChange])

    var isWrite: Bool {
        switch self {
        case .read: false
        case .write: true
        }
    }

    /// The documents it names, in order.
    var documents: [DocumentPath] {
        switch self {
        case .read(let reading): reading.documents
        case .write(let changes): changes.map(\.path)
        }
    }
}

/// What a transaction reads: documents, missing ones too, and all that a query may ever return.
struct LockedReading {
    var documents: [DocumentPath] = []
    var query: LockedQuery?
}

/// One document that a commit writes, decoded; both are nil for one that stays missing, or where the
/// commit would be refused.
struct LockedChange {
    let path: DocumentPath
    let before: MapValue?
    let after: MapValue?
}

/// The predicate of a query: its collections and its filter. Order, cursors, offset and limit do not
/// narrow what is locked. Source: server-production-facts 6.
struct LockedQuery: Hashable {
    private let prepared: PreparedQuery
    /// Where a write must be to touch it.
    let place: Place

    /// Where the documents lie that a query may return.
    enum Place: Hashable {
        case collection(CollectionPath)
        /// By the collections' id alone; a path of one segment, because those are compared by bytes.
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

    /// Whether the document is among what is locked before the change, or after it.
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
