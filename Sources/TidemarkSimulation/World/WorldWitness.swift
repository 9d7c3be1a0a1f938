import TidemarkModel
import TidemarkSync

/// Receives all events of a world's apps, and compares them with the writes and the server's data.
package final class WorldWitness {
    /// The shown rows that are not yet compared with the server's data.
    var unchecked = WorldEvidence()
    /// The random generator of the checks. It is separate, so the checks do not change the history.
    private(set) var eyes: SeededRandom
    unowned let world: World

    init(in world: World) {
        self.world = world
        eyes = SeededRandom(seed: world.settings.seed &+ 3)
    }

    /// Checks the rows of a random client after an action.
    func look() throws {
        let client = eyes.pick(world.clients)
        try checkShown(client)
    }

    /// Returns a query of a form that a cache can answer.
    func randomQuery() -> Query { WorldQueries.random(&eyes) }

    // MARK: What clients are told

    func heard(
        _ event: Result<ViewSnapshot, SyncError>, _ listener: WorldListener, _ client: WorldClient
    ) {
        switch event {
        case .failure(let error):
            world.note("\(client.name) listener fails: \(error)")
            listener.failure = error
        case .success(let snapshot):
            let name = client.name
            world.noteValues { "\(name) sees \(Self.describe(snapshot))" }
            if let time = snapshot.readTime, let last = listener.readTime, time < last {
                world.violate(.readTimes, "\(client.name) goes back from \(last) to \(time)")
            }
            listener.readTime = snapshot.readTime
            let changes = WorldChangesCheck(snapshot, after: listener)
            if let fault = changes.fault { world.violate(.changes, "\(client.name): \(fault)") }
            world.figures.changes += 1
            listener.snapshot = snapshot
            listener.snapshots += 1
            check(snapshot.documents, client)
            gather(snapshot, client)
        }
    }

    static func describe(_ snapshot: ViewSnapshot) -> String {
        let rows = snapshot.documents.map { document in
            document.document.worldText + (document.hasPendingWrites ? "*" : "")
        }
        let time = snapshot.readTime.map { " at \($0.worldText)" } ?? ""
        return "\(snapshot.query.canonicalID.prefix(60)) \(rows.joined(separator: " | "))\(time)"
            + (snapshot.isFromCache ? " from cache" : "")
    }

    func became(_ event: SyncEngine.WriteEvent, of id: String, _ client: WorldClient) {
        world.noteValues { "\(id) is \(event)" }
        switch event {
        case .journalled(let batch): world.ledger.set(id, .journalled, batch: batch)
        case .acknowledged(let time):
            client.knowsUntil = max(client.knowsUntil, time)
            if case .acknowledged = world.ledger.writes[id]!.state {
                world.violate(.writesTold, "\(id) is told twice")
            }
            let writer = world.ledger.writes[id]!.writer
            if client.userChanges.isEmpty, writer != client.writer {
                world.violate(
                    .users, "\(id) is acknowledged, while \(client.writer.name) is signed in")
            }
            world.ledger.set(id, .acknowledged(time))
        case .failed(let error):
            let isJournalled = world.ledger.writes[id]!.batch != nil
            let isErased = [.erasing, .erased].contains(world.ledger.writes[id]!.state)
            if case .server(let status) = error {
                world.ledger.set(id, .rejected(status))
            } else if !isJournalled {
                world.ledger.set(id, .refused(error))
            } else if error != .terminated, !(isErased && error == .userChanged) {
                world.violate(.writesTold, "\(id) was journalled, and failed: \(error)")
            }
        }
    }

    func wasRead(
        _ result: Result<ReadResult, SyncError>, query: Query, asking: WorldWriter,
        client: WorldClient
    ) {
        switch result {
        case .failure(let error): world.note("\(client.name) could not read: \(error)")
        case .success(let result):
            let name = client.name
            world.noteValues { "\(name) read \(result.documents.count) \(result.freshness)" }
            if asking != client.shownTo {
                world.violate(.users, "\(asking.name)'s read is answered to \(client.shownTo.name)")
            }
            check(result.documents, client)
        }
    }

    /// Checks that every shown value was written, and records versions shown as the server's.
    private func check(_ documents: [ViewDocument], _ client: WorldClient) {
        for shown in documents {
            if shown.path.collectionID == "rooms" {
                do throws(WorldViolation) {
                    try world.ledger.trace(
                        shown.document, to: client.shownTo,
                        isServers: !shown.hasLocalMutations && !shown.hasCommittedMutations)
                } catch { world.violate(error.check, "\(client.name): \(error.text)") }
            }
            checkOwner(shown, client)
            guard !shown.hasLocalMutations, !shown.hasCommittedMutations else { continue }
            let version = WorldVersion(
                path: shown.path, time: shown.document.updateTime,
                contents: shown.document.contents)
            guard unchecked.known.insert(version).inserted else { continue }
            unchecked.versions.append((shown.document, client.name))
        }
    }

    /// Records a snapshot that is the query's complete result at its read time. Skips it if the
    /// client knows of its own later writes or reads.
    private func gather(_ snapshot: ViewSnapshot, _ client: WorldClient) {
        guard !snapshot.isFromCache, !snapshot.hasPendingWrites, let time = snapshot.readTime,
            time >= client.knowsUntil, !world.ledger.hasPending(client.shownTo)
        else { return }
        unchecked.truths.append((snapshot, client.name))
    }
}
