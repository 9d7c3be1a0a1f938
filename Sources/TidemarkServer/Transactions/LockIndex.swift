import TidemarkModel

/// The locks in a database and the waiting commands, found by document and by query.
struct LockIndex {
    /// A command that waits for a document.
    struct Queued {
        let ticket: LockTicket
        let isWrite: Bool
    }

    private(set) var holders: [DocumentPath: Set<TransactionID>] = [:]
    private var queries: [LockedQuery.Place: [LockedQuery: Set<TransactionID>]] = [:]
    /// The waiting commands of each document, in the order of their tickets.
    private(set) var queues: [DocumentPath: [Queued]] = [:]
    /// The tickets that wait to run a query, and the tickets that wait to write, in their order.
    private(set) var queryReads: [LockTicket] = []
    private(set) var writes: [LockTicket] = []

    var isEmpty: Bool {
        holders.isEmpty && queries.isEmpty && queues.isEmpty && queryReads.isEmpty
            && writes.isEmpty
    }

    // MARK: Holders

    mutating func lock(_ path: DocumentPath, for id: TransactionID) {
        holders[path, default: []].insert(id)
    }

    mutating func unlock(_ path: DocumentPath, for id: TransactionID) {
        holders[path]?.remove(id)
        if holders[path]?.isEmpty == true { holders[path] = nil }
    }

    mutating func lock(_ query: LockedQuery, for id: TransactionID) {
        queries[query.place, default: [:]][query, default: []].insert(id)
    }

    mutating func unlock(_ query: LockedQuery, for id: TransactionID) {
        queries[query.place]?[query]?.remove(id)
        if queries[query.place]?[query]?.isEmpty == true { queries[query.place]?[query] = nil }
        if queries[query.place]?.isEmpty == true { queries[query.place] = nil }
    }

    /// The transactions that have locked a document or query that the changes touch.
    func holders(touchedBy changes: [LockedChange]) -> Set<TransactionID> {
        var result: Set<TransactionID> = []
        for change in changes {
            if let ids = holders[change.path] { result.formUnion(ids) }
        }
        if queries.isEmpty { return result }
        for change in changes {
            let collection = change.path.parent
            for place in [
                LockedQuery.Place.collection(collection),
                .group(CollectionPath(unchecked: collection.id)), .everywhere,
            ] {
                for (query, ids) in queries[place] ?? [:]
                where !ids.isSubset(of: result) && query.isTouched(by: change) {
                    result.formUnion(ids)
                }
            }
        }
        return result
    }

    // MARK: Queues

    mutating func enqueue(_ ticket: LockTicket, _ access: LockAccess) {
        for path in access.documents {
            var queue = queues.removeValue(forKey: path) ?? []
            let before = queue.lastIndex { $0.ticket <= ticket }
            // A command that names a document twice waits for it once.
            if before.map({ queue[$0].ticket }) != ticket {
                let queued = Queued(ticket: ticket, isWrite: access.isWrite)
                queue.insert(queued, at: before.map { $0 + 1 } ?? 0)
            }
            queues[path] = queue
        }
        switch access {
        case .write: Self.insert(ticket, &writes)
        case .read(let reading): if reading.query != nil { Self.insert(ticket, &queryReads) }
        }
    }

    mutating func dequeue(_ ticket: LockTicket, _ access: LockAccess) {
        for path in access.documents {
            queues[path]?.removeAll { $0.ticket == ticket }
            if queues[path]?.isEmpty == true { queues[path] = nil }
        }
        switch access {
        case .write: writes.removeAll { $0 == ticket }
        case .read: queryReads.removeAll { $0 == ticket }
        }
    }

    private static func insert(_ ticket: LockTicket, _ tickets: inout [LockTicket]) {
        let index = tickets.lastIndex { $0 < ticket }.map { $0 + 1 } ?? 0
        tickets.insert(ticket, at: index)
    }
}
