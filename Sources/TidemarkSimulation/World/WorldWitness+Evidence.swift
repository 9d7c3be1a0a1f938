import TidemarkModel
import TidemarkSync

// Comparisons with the server's data after each step.

extension WorldWitness {
    /// Compares the recorded rows. While the server is down, they wait.
    func checkEvidence() throws {
        guard world.server.isUp else { return }
        let (versions, truths) = (unchecked.versions, unchecked.truths)
        (unchecked.versions, unchecked.truths) = ([], [])
        for (document, client) in versions { try check(document, client) }
        var known = WorldHeld()
        for (snapshot, client) in truths {
            try check(snapshot, client: client, known: &known)
            try checkSum(snapshot, client)
        }
        try checkStrangers()
        try checkReads()
    }

    private func check(_ shown: Document, _ client: String) throws {
        // The server no longer has this version, so it cannot be compared.
        guard
            case .success(let held) = world.server.document(
                at: shown.path, at: shown.updateTime, in: World.database)
        else { return }
        world.figures.versions += 1
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
        _ snapshot: ViewSnapshot, client: String, known: inout WorldHeld
    ) throws {
        guard let collection = snapshot.query.collectionID, let time = snapshot.readTime,
            let all = known.documents(of: collection, at: time, world.server)
        else { return }
        let held = snapshot.query.rows(of: all)
        world.figures.fresh += 1
        world.figures.freshRows += held.count
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

    // MARK: Transfers

    /// Checks that documents which a transaction read and did not write were unchanged when it was
    /// committed.
    func checkReads() throws {
        let reads = unchecked.reads
        unchecked.reads = []
        for read in reads {
            guard
                case .success(let held) = world.server.document(
                    at: read.path, at: read.committed, in: World.database)
            else { continue }
            if held?.updateTime == read.version { continue }
            throw WorldViolation(
                .transactionReads,
                "\(read.transfer) was committed though \(read.path.text), which it had read, "
                    + "was \(held?.worldText ?? "gone") by then")
        }
    }

    /// Checks that no snapshot shows half of a transfer.
    func checkSum(_ snapshot: ViewSnapshot, _ client: String) throws {
        guard snapshot.query == WorldQueries.allAccounts else { return }
        let sum = snapshot.documents.reduce(0) { $0 + WorldBank.balance($1.document) }
        if sum == 0 { return }
        throw WorldViolation(.sums, "\(client) is shown accounts that come to \(sum)")
    }
}
