import TidemarkModel
import TidemarkSync
import TidemarkTesting

/// The end of a history: everything is mended, and all must come to show what the server holds.
struct WorldHealing {
    unowned let world: World

    /// Longer than everything that a client may wait for: the longest backoff, 90 s, twice, a half-open
    /// connection, 50 s, and retries of the storage.
    private static let patience = Duration.seconds(600)
    private static let pause = Duration.seconds(10)

    func heal() throws {
        try mend()
        try finishUserChanges()
        for client in world.clients {
            // As an app does that was told that the storage had failed.
            for listener in client.listeners {
                guard listener.failure?.passes == true else { continue }
                client.unlisten(listener)
                client.listen(listener.query, listener.options)
            }
            client.listen(WorldQueries.allRooms, .init(includeMetadataChanges: true))
        }
        var kept: [WorldWriter: Set<Int64>] = [:]
        // What waits for a user is sent when it is the user again.
        repeat {
            try converge(within: Self.patience)
            for client in world.clients { kept[client.writer] = rejected(client) }
        } while signInNext(after: Set(kept.keys))
        try checkServer(kept)
        // Those that are up to date must stay so: somebody writes, and they are to be told.
        for _ in 0..<4 { world.driver.writeOutside() }
        try converge(within: .seconds(60))
        try readAll()
    }

    /// Nothing is broken any more, and every app runs.
    func mend() throws {
        world.note("everything is mended")
        world.network.weather = .calm
        world.driver.startServer()
        try world.server.order([])
        for client in world.clients {
            client.disk.full = []
            client.disk.killing = nil
            client.setNetwork(true, isNoticed: false)
            world.driver.setEnabled(true, client)
            if !client.isAlive { client.start() }
            client.resume()
            guard client.isAlive else {
                throw WorldViolation(
                    .convergence, "\(client.name) cannot start, with everything mended")
            }
        }
    }

    /// What could not be stored is tried again by itself.
    private func finishUserChanges() throws {
        let end = world.time.elapsed + Self.patience
        func waits(_ client: WorldClient) -> Bool {
            !client.userChanges.isEmpty || world.witness.countQueue(client) == nil
        }
        while let client = world.clients.first(where: waits) {
            guard world.time.elapsed < end else {
                throw WorldViolation(
                    .convergence, "\(client.name) never becomes \(client.writer.name)")
            }
            try world.pass(Self.pause)
        }
    }

    private func converge(within patience: Duration) throws {
        let end = world.time.elapsed + patience
        var difference: String?
        repeat {
            try world.pass(difference == nil ? .seconds(1) : Self.pause)
            difference = try firstDifference()
            if difference == nil {
                world.figures.converged += world.clients.reduce(0) { $0 + $1.listeners.count }
                for client in world.clients { try world.witness.checkShown(client) }
                return world.note("all is well")
            }
        } while world.time.elapsed < end
        throw WorldViolation(
            .convergence, "\(patience) after everything was mended, \(difference!)")
    }

    /// What a client still lacks; nil when all show what the server holds.
    private func firstDifference() throws -> String? {
        var held: [String: [Document]] = [:]
        for client in world.clients {
            guard let pending = world.witness.countQueue(client) else {
                return "\(client.name) does not say what it has pending"
            }
            if pending != 0 { return "\(client.writer.name) has \(pending) writes pending" }
            if let id = client.transactions.keys.min() { return "\(id) is still running" }
            for listener in client.listeners {
                let collection = listener.query.collectionID!
                let all = try held[collection] ?? self.held(collection)
                held[collection] = all
                if let text = difference(listener, all) { return "\(client.name) \(text)" }
            }
        }
        return nil
    }

    func held(_ collection: String) throws -> [Document] {
        switch world.server.documents(Query(collectionID: collection), in: World.database) {
        case .success(let documents): return documents
        case .failure(let status):
            throw WorldViolation(.convergence, "the world.server does not answer: \(status)")
        }
    }

    private func difference(_ listener: WorldListener, _ all: [Document]) -> String? {
        let name = listener.query.canonicalID
        if let failure = listener.failure { return "was told \(failure) of \(name)" }
        guard let snapshot = listener.snapshot else { return "has heard nothing of \(name)" }
        let expected = listener.query.rows(of: all)
        let shown = snapshot.documents.map(\.document)
        guard expected.map(\.path) == shown.map(\.path),
            zip(expected, shown).allSatisfy({ $0.contents == $1.contents })
        else {
            return "shows \(shown.map(\.worldText)) of \(name), not \(expected.map(\.worldText))"
        }
        guard listener.options.includeMetadataChanges else { return nil }
        if snapshot.isFromCache { return "takes \(name) for cached" }
        if snapshot.hasPendingWrites { return "takes \(name) for pending" }
        return nil
    }

    private func checkServer(_ kept: [WorldWriter: Set<Int64>]) throws {
        let journal = try held("journal")
        try world.ledger.check(journal: journal, counters: try held("counters"), kept: kept)
        try world.bank.check(
            accounts: try held("accounts"), receipts: try held(WorldBank.receipts),
            journal: journal)
    }

    /// A full read of the server by each client, and then of its cache.
    private func readAll() throws {
        let expected = WorldQueries.allRooms.rows(of: try held("rooms"))
        for client in world.clients {
            for source in [ReadSource.server, .cache] {
                let read = WorldFound<Result<ReadResult, SyncError>>()
                client.engine?.read(WorldQueries.allRooms, source: source, deadline: .seconds(5)) {
                    read.value = $0
                }
                try world.pass(.seconds(2))
                guard case .success(let result)? = read.value else {
                    throw WorldViolation(.convergence, "\(client.name) cannot read from \(source)")
                }
                let rows = result.documents.map(\.document)
                guard rows.map(\.path) == expected.map(\.path),
                    zip(rows, expected).allSatisfy({ $0.contents == $1.contents })
                else {
                    throw WorldViolation(
                        .convergence, "\(client.name) reads other rows from \(source)")
                }
            }
        }
    }

    // MARK: Users

    /// The batches that the present user keeps as rejected.
    func rejected(_ client: WorldClient) -> Set<Int64> {
        let found = WorldFound<Result<[RejectedWrite], SyncError>>()
        client.engine?.rejectedWrites { found.value = $0 }
        world.time.runUntilIdle()
        guard case .success(let writes)? = found.value else { return [] }
        return Set(writes.map(\.batch))
    }

    /// Signs in those who have written and have not had their turn.
    ///
    /// - Returns: Whether there was one.
    func signInNext(after done: Set<WorldWriter>) -> Bool {
        var hasNext = false
        for client in world.clients {
            let next = world.ledger.writers.filter {
                $0.client == client.index && !done.contains($0)
            }
            guard let writer = next.min() else { continue }
            client.changeUser(to: writer.user)
            hasNext = true
        }
        return hasNext
    }
}

extension SyncError {
    /// Whether a listener that was told so may listen again.
    fileprivate var passes: Bool {
        switch self {
        case .storage, .userChanged, .suspended: true
        default: false
        }
    }
}
