import TidemarkModel
import TidemarkSync
import TidemarkTesting

// Checks that a user never sees another user's data: compares shown, sent, returned and queued
// writes with the user who is signed in.

extension WorldWitness {
    func began(_ change: WorldUserChange, _ client: WorldClient) {
        world.note(
            "\(client.name) becomes \(change.writer.name)\(change.erased == nil ? "" : ", erasing")"
        )
        if let erased = change.erased { world.ledger.startErasing(erased) }
    }

    func ended(_ change: WorldUserChange, error: SyncError?, client: WorldClient) {
        world.note("\(client.name) is \(change.writer.name)\(error.map { ", not: \($0)" } ?? "")")
        if let error, error != .terminated {
            world.violate(.users, "\(client.name) cannot become \(change.writer.name): \(error)")
        }
        guard error == nil else { return }
        if let erased = change.erased { world.ledger.finishErasing(erased) }
        // Reads everything in the cache to check its owner.
        client.read(WorldQueries.allRooms, .cache)
        client.read(WorldQueries.allOwn, .cache)
    }

    /// Checks that a shown document belongs to the client's user or is the server's.
    func checkOwner(_ shown: ViewDocument, _ client: WorldClient) {
        let writer = client.shownTo
        if shown.path.collectionID == WorldQueries.ownCollection, !world.sharesCache,
            shown.path.id != writer.name
        {
            world.violate(
                .users, "\(writer.name) is shown what is another's: \(shown.document.worldText)")
        }
        if shown.hasLocalMutations,
            !world.ledger.hasWritten(writer, at: shown.path, sharesCache: world.sharesCache)
        {
            world.violate(
                .users,
                "\(writer.name) has written nothing of \(shown.document.worldText), shown so")
        }
        guard shown.hasLocalMutations || shown.hasCommittedMutations else { return }
        for id in world.ledger.strangers(in: shown.document, to: writer) {
            unchecked.strangers[id] = "\(writer.name) is shown \(shown.document.worldText)"
        }
    }

    /// Checks that another user's writes are shown only after the server has applied them.
    func checkStrangers() throws {
        let strangers = unchecked.strangers.sorted { $0.key < $1.key }
        unchecked.strangers = [:]
        for (id, shown) in strangers where !unchecked.applied.contains(id) {
            let journal = DocumentPath(unchecked: "journal/\(id)")
            guard case .success(let held) = world.server.document(at: journal, in: World.database)
            else { continue }
            if held == nil { throw WorldViolation(.users, "\(shown), and \(id) is not applied") }
            unchecked.applied.insert(id)
        }
    }

    /// Checks that a client sends only writes of the user who is signed in.
    func sent(_ mutations: [Mutation], by client: WorldClient) {
        for id in mutations.compactMap(\.entryID) {
            guard let writer = writer(of: id), writer.client == client.index else {
                world.violate(.users, "\(client.name) sends \(id), which is not its")
                continue
            }
            if client.userChanges.isEmpty, writer == client.writer { continue }
            world.violate(
                .users, "\(client.name) sends \(id), while \(client.shownTo.name) is signed in")
        }
    }

    private func writer(of id: String) -> WorldWriter? {
        world.ledger.writes[id]?.writer ?? world.bank.transfers[id]?.writer
    }

    /// - Returns: The number of pending writes; nil if the engine does not answer.
    func countQueue(_ client: WorldClient) -> Int? {
        let found = WorldFound<Result<[PendingWrite], SyncError>>()
        client.engine?.pendingWrites { found.value = $0 }
        world.time.runUntilIdle()
        guard case .success(let writes)? = found.value else { return nil }
        for id in writes.flatMap(\.mutations).compactMap(\.entryID)
        where world.ledger.writes[id]?.writer != client.writer {
            world.violate(.users, "\(client.writer.name) has \(id) in its queue")
        }
        return writes.count
    }
}

extension Mutation {
    /// The id of the write or transfer to which this document belongs; nil for other documents.
    fileprivate var entryID: String? {
        switch path.collectionID {
        case "journal", WorldBank.receipts: path.id
        default: nil
        }
    }
}
