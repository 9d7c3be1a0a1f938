import TidemarkModel
import TidemarkSync
import TidemarkTesting

// Compares the rows that a client shows and would read from its cache with that cache and the
// client's pending writes, row by row and in order, when the client has no work in progress.

extension WorldWitness {
    /// Returns all documents that can exist in the rooms and in the other collections to which a
    /// client listens.
    private func looked(by client: WorldClient) -> [DocumentPath] {
        var collections = Set(client.listeners.compactMap(\.query.collectionID))
        collections.formUnion(world.lives?.collections(of: client) ?? [])
        var paths = WorldQueries.rooms
        if collections.contains(WorldBank.accounts[0].collectionID) { paths += WorldBank.accounts }
        for collection in ["counters", WorldQueries.ownCollection]
        where collections.contains(collection) {
            paths += world.ledger.writers.sorted().map {
                DocumentPath(unchecked: "\(collection)/\($0.name)")
            }
        }
        return paths
    }

    /// Compares the rows that a client shows, and the result of one more query of its cache.
    func checkShown(_ client: WorldClient) throws {
        guard let (held, read) = try look(client, asking: randomQuery()) else {
            return
        }
        for listener in client.listeners { try check(listener, held, client) }
        try world.lives?.check(client, held)
        guard let read, case .success(let result) = read.result else { return }
        let (expected, shown) = (held.rows(of: read.query), result.documents)
        world.figures.reads += 1
        world.figures.readRows += expected.count
        guard expected == shown.map(WorldRow.init),
            shown.allSatisfy({ $0.hasLocalMutations == held.isWritten($0.path) })
        else {
            throw WorldViolation(
                .cacheReads,
                "\(client.name) reads \(shown.map { WorldRow($0).text }) of its cache, not "
                    + "\(expected.map(\.text)), by \(read.query)")
        }
    }

    fileprivate typealias CacheRead = (query: Query, result: Result<ReadResult, SyncError>)

    /// Returns nil if nothing can be compared now: no app is running, or its user is changing.
    private func look(
        _ client: WorldClient, asking query: Query?
    ) throws -> (WorldHoldings, CacheRead?)? {
        world.time.runUntilIdle()
        client.releaseKilledEngine()
        guard let engine = client.engine, client.userChanges.isEmpty, !client.isSuspended else {
            return nil
        }
        let found = WorldFound<Result<CacheContents, SyncError>>()
        let read = WorldFound<Result<ReadResult, SyncError>>()
        let paths = looked(by: client)
        engine.cacheContents(at: paths) { found.value = $0 }
        let alone = WorldFound<Result<[DocumentPath: ViewDocument?], SyncError>>()
        engine.cachedDocuments(at: paths, andWrittenIn: WorldQueries.allRooms) { alone.value = $0 }
        if let query {
            engine.read(query, source: .cache, deadline: nil) { read.value = $0 }
        }
        world.time.runUntilIdle()
        guard client.engine === engine, case .success(let contents)? = found.value else {
            return nil
        }
        let held = WorldHoldings(contents)
        if case .success(let views)? = alone.value { try check(views, held, client) }
        return (held, query.flatMap { q in read.value.map { (q, $0) } })
    }

    /// Checks each document, read by its name.
    private func check(
        _ views: [DocumentPath: ViewDocument?], _ held: WorldHoldings, _ client: WorldClient
    ) throws {
        for (path, view) in views {
            world.figures.documents += 1
            let isWritten = view.map { $0.hasLocalMutations == held.isWritten(path) } ?? true
            if view?.document.fields == held.fields(path), isWritten { continue }
            throw WorldViolation(
                .cacheReads,
                "\(client.name) finds \(view.map { WorldRow($0).text } ?? "nothing") at \(path), not "
                    + "\(held.fields(path)?.worldText ?? "nothing")")
        }
    }

    private func check(
        _ listener: WorldListener, _ held: WorldHoldings, _ client: WorldClient
    ) throws {
        guard let snapshot = listener.snapshot, listener.failure == nil else { return }
        let expected = held.rows(of: snapshot.query)
        let shown = snapshot.documents
        world.figures.listeners += 1
        if expected == shown.map(WorldRow.init) {
            world.figures.listenerRows += expected.count
            return
        }
        // An acknowledged write is shown on top until the listen has delivered it.
        let waiting = Set(
            shown.filter { $0.hasLocalMutations && !held.isWritten($0.path) }.map(\.path))
        world.figures.waiting += 1
        if !waiting.isEmpty {
            // If there is a limit, such a row can displace another row.
            if snapshot.query.limit != nil { return }
            let rest = shown.filter { !waiting.contains($0.path) }.map(WorldRow.init)
            if expected.filter({ !waiting.contains($0.path) }) == rest { return }
        }
        throw WorldViolation(
            .cachedRows,
            "\(client.name) shows \(shown.map { WorldRow($0).text }), and holds "
                + "\(expected.map(\.text)), of \(snapshot.query)")
    }

    // MARK: One's own writes

    /// Checks right after a write that every listener of the changed documents has shown it.
    func checkOwnWrite(_ id: String, _ client: WorldClient) throws {
        guard let (held, _) = try look(client, asking: nil),
            let write = world.ledger.writes[id], write.state == .journalled
        else { return }
        for listener in client.listeners where listener.failure == nil {
            guard let snapshot = listener.snapshot else { continue }
            let shown = snapshot.documents
            let isWaiting = shown.contains { $0.hasLocalMutations && !held.isWritten($0.path) }
            if isWaiting, snapshot.query.limit != nil { continue }
            for row in held.rows(of: snapshot.query) where write.paths.contains(row.path) {
                guard held.isWritten(row.path) else { continue }
                world.figures.ownWrites += 1
                let isShown = shown.contains { WorldRow($0) == row && $0.hasLocalMutations }
                if isShown { continue }
                throw WorldViolation(
                    .ownWrites,
                    "\(client.name) has written \(row.text), and is shown "
                        + "\(shown.map { WorldRow($0).text }) of \(snapshot.query)")
            }
        }
    }
}
