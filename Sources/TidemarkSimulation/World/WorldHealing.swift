import TidemarkModel
import TidemarkSync
import TidemarkTesting

/// The end of a history: heals all faults, then checks that every client shows the server's data.
struct WorldHealing {
    unowned let world: World

    /// Longer than any delay of a client: twice the longest backoff of 90 s, a half-open connection
    /// of 50 s, and retries of the storage.
    private static let patience = Duration.seconds(600)
    private static let pause = Duration.seconds(10)

    func heal() throws {
        try mend()
        try finishUserChanges()
        for client in world.clients {
            // Listens again, as an app does after an error of the storage.
            for listener in client.listeners {
                guard listener.failure?.passes == true else { continue }
                client.unlisten(listener)
                client.listen(listener.query, listener.options)
            }
            client.listen(WorldQueries.allRooms, .init(includeMetadataChanges: true))
        }
        world.lives?.mend()
        var kept: [WorldWriter: Set<Int64>] = [:]
        // Pending writes of a user are sent when that user is signed in again.
        repeat {
            try converge(within: Self.patience)
            for client in world.clients { kept[client.writer] = rejected(client) }
        } while signInNext(after: Set(kept.keys))
        try checkServer(kept)
        // Clients that are up to date must stay so: others write, and the clients must receive the
        // changes.
        for _ in 0..<4 { world.driver.writeOutside() }
        try converge(within: .seconds(60))
        try readAll()
    }

    /// Ends all faults and starts every app.
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

    /// Waits for the changes of users. The engine retries failed storage steps itself.
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
                world.lives?.converged()
                for client in world.clients { try world.witness.checkShown(client) }
                return world.note("all is well")
            }
        } while world.time.elapsed < end
        throw WorldViolation(
            .convergence, "\(patience) after everything was mended, \(difference!)")
    }

    /// Returns the first difference from the server's data; nil if every client shows that data.
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
            if let text = try world.lives?.difference(client, held: self.held) {
                return "\(client.name) \(text)"
            }
        }
        return nil
    }

    func held(_ collection: String) throws -> [Document] {
        switch world.server.documents(Query(collectionID: collection), in: World.database) {
        case .success(let documents): return documents
        case .failure(let status):
            throw WorldViolation(.convergence, "the server does not answer: \(status)")
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

    /// Reads everything from the server on each client, and then from its cache.
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

    /// Returns the batches that the current user keeps as rejected.
    func rejected(_ client: WorldClient) -> Set<Int64> {
        let found = WorldFound<Result<[RejectedWrite], SyncError>>()
        client.engine?.rejectedWrites { found.value = $0 }
        world.time.runUntilIdle()
        guard case .success(let writes)? = found.value else { return [] }
        return Set(writes.map(\.batch))
    }

    /// Signs in a user who has written and has not been signed in since.
    ///
    /// - Returns: True if there was such a user.
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
    /// True if the app may listen again after this error.
    fileprivate var passes: Bool {
        switch self {
        case .storage, .userChanged, .suspended: true
        default: false
        }
    }
}
