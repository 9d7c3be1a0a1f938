import TidemarkModel
import TidemarkSync

/// What was shown, to be compared with what the server held at that time.
struct WorldEvidence {
    /// Versions of documents that a client took for the server's, not compared yet.
    var versions: [(document: Document, client: String)] = []
    /// Snapshots that claim to be the whole truth as of their read time.
    var truths: [(snapshot: ViewSnapshot, client: String)] = []
    /// Versions that were compared.
    var known: Set<WorldVersion> = []
    /// By the writes of others: how they were shown among a user's own.
    var strangers: [String: String] = [:]
    /// Writes that the server was seen to hold.
    var applied: Set<String> = []
    /// What committed transactions have read and not written.
    var reads: [(transfer: String, path: DocumentPath, version: Timestamp?, committed: Timestamp)] =
        []
}

/// What the server held at times past, each of them asked for once.
struct WorldHeld {
    private struct Key: Hashable {
        let collection: String
        let time: Timestamp
    }

    private var known: [Key: [Document]?] = [:]

    /// Nil where the server does not remember.
    mutating func documents(
        of collection: String, at time: Timestamp, _ server: WorldServer
    ) -> [Document]? {
        let key = Key(collection: collection, time: time)
        if let known = known[key] { return known }
        let query = Query(collectionID: collection)
        let documents = try? server.documents(query, at: time, in: World.database).get()
        known[key] = .some(documents)
        return documents
    }
}

struct WorldVersion: Hashable {
    let path: DocumentPath
    let time: Timestamp
    let contents: EncodedFields
}

extension World {
    // MARK: What clients are told

    func heard(
        _ event: Result<ViewSnapshot, SyncError>, _ listener: WorldListener, _ client: WorldClient
    ) {
        switch event {
        case .failure(let error):
            note("\(client.name) listener fails: \(error)")
            listener.failure = error
        case .success(let snapshot):
            let name = client.name
            noteValues { "\(name) sees \(Self.describe(snapshot))" }
            if let time = snapshot.readTime, let last = listener.readTime, time < last {
                violate(.readTimes, "\(client.name) goes back from \(last) to \(time)")
            }
            listener.readTime = snapshot.readTime
            checkChanges(of: snapshot, listener, client)
            listener.snapshot = snapshot
            listener.snapshots += 1
            check(snapshot.documents, client)
            gather(snapshot, client)
        }
    }

    private static func describe(_ snapshot: ViewSnapshot) -> String {
        let rows = snapshot.documents.map { document in
            document.document.worldText + (document.hasPendingWrites ? "*" : "")
        }
        let time = snapshot.readTime.map { " at \($0.worldText)" } ?? ""
        return "\(snapshot.query.canonicalID.prefix(60)) \(rows.joined(separator: " | "))\(time)"
            + (snapshot.isFromCache ? " from cache" : "")
    }

    func became(_ event: SyncEngine.WriteEvent, of id: String, _ client: WorldClient) {
        noteValues { "\(id) is \(event)" }
        switch event {
        case .journalled(let batch): ledger.set(id, .journalled, batch: batch)
        case .acknowledged(let time):
            client.knowsUntil = max(client.knowsUntil, time)
            if case .acknowledged = ledger.writes[id]!.state {
                violate(.writesTold, "\(id) is told twice")
            }
            let writer = ledger.writes[id]!.writer
            if client.userChanges.isEmpty, writer != client.writer {
                violate(.users, "\(id) is acknowledged, while \(client.writer.name) is signed in")
            }
            ledger.set(id, .acknowledged(time))
        case .failed(let error):
            let isJournalled = ledger.writes[id]!.batch != nil
            let isErased = [.erasing, .erased].contains(ledger.writes[id]!.state)
            if case .server(let status) = error {
                ledger.set(id, .rejected(status))
            } else if !isJournalled {
                ledger.set(id, .refused(error))
            } else if error != .terminated, !(isErased && error == .userChanged) {
                violate(.writesTold, "\(id) was journalled, and failed: \(error)")
            }
        }
    }

    func wasRead(
        _ result: Result<ReadResult, SyncError>, _ query: Query, _ asking: WorldWriter,
        _ client: WorldClient
    ) {
        switch result {
        case .failure(let error): note("\(client.name) could not read: \(error)")
        case .success(let result):
            let name = client.name
            noteValues { "\(name) read \(result.documents.count) \(result.freshness)" }
            if asking != client.shownTo {
                violate(.users, "\(asking.name)'s read is answered to \(client.shownTo.name)")
            }
            check(result.documents, client)
        }
    }

    /// Every value shown was written by somebody; what is shown as the server's is to be compared.
    private func check(_ documents: [ViewDocument], _ client: WorldClient) {
        for shown in documents {
            if shown.path.collectionID == "rooms" {
                do throws(WorldViolation) {
                    try ledger.trace(
                        shown.document, to: client.shownTo,
                        isServers: !shown.hasLocalMutations && !shown.hasCommittedMutations)
                } catch { violate(error.check, "\(client.name): \(error.text)") }
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

    /// A snapshot that is no guess is the query's result at its read time, unless the client knows of
    /// its own later writes and reads.
    private func gather(_ snapshot: ViewSnapshot, _ client: WorldClient) {
        guard !snapshot.isFromCache, !snapshot.hasPendingWrites, let time = snapshot.readTime,
            time >= client.knowsUntil, !ledger.hasPending(client.shownTo)
        else { return }
        unchecked.truths.append((snapshot, client.name))
    }

    // MARK: After each step

    /// While the server is down, what was seen waits.
    func checkEvidence() throws {
        guard server.isUp else { return }
        let (versions, truths) = (unchecked.versions, unchecked.truths)
        (unchecked.versions, unchecked.truths) = ([], [])
        for (document, client) in versions { try check(document, client) }
        var known = WorldHeld()
        for (snapshot, client) in truths {
            try check(snapshot, client, &known)
            try checkSum(snapshot, client)
        }
        try checkStrangers()
        try checkReads()
    }

    private func check(_ shown: Document, _ client: String) throws {
        // Older than the server remembers: nobody can tell.
        guard
            case .success(let held) = server.document(
                at: shown.path, at: shown.updateTime, in: Self.database)
        else { return }
        figures.versions += 1
        guard let held, held.updateTime == shown.updateTime, held.contents == shown.contents
        else {
            let truth = held?.worldText ?? "nothing"
            throw WorldViolation(
                .versions,
                "\(client) showed \(shown.worldText) of \(shown.updateTime.worldText), "
                    + "but the server held \(truth)")
        }
    }

    private func check(
        _ snapshot: ViewSnapshot, _ client: String, _ known: inout WorldHeld
    ) throws {
        guard let collection = snapshot.query.collectionID, let time = snapshot.readTime,
            let all = known.documents(of: collection, at: time, server)
        else { return }
        let held = snapshot.query.rows(of: all)
        figures.fresh += 1
        figures.freshRows += held.count
        let shown = snapshot.documents.map(\.document)
        guard held.map(\.path) == shown.map(\.path),
            zip(held, shown).allSatisfy({ $0.contents == $1.contents })
        else {
            throw WorldViolation(
                .freshRows,
                "\(client) showed \(Self.describe(snapshot)), "
                    + "when the server held \(held.map(\.worldText))")
        }
    }
}
