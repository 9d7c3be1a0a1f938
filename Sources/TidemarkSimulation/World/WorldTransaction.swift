import Tidemark
import TidemarkModel
import TidemarkSync

/// A transaction of an app, as ``Firestore/runTransaction(maxAttempts:_:)`` runs it, in a world's
/// time: reads accounts one after another, pauses, and transfers an amount.
final class WorldTransaction {
    let transfer: WorldTransfer
    /// The documents to read, including the accounts to write.
    private let reads: [DocumentPath]
    /// True if the transaction replaces the accounts instead of changing fields.
    private let sets: Bool
    /// The pause between the reads and the writes.
    private let thinking: Duration
    private let session: UserSession
    private let process: WorldProcess
    private unowned let client: WorldClient
    private unowned let world: World
    private var attempts: TransactionAttempts
    private var attempt: TransactionAttempt
    private var found: [DocumentPath: Document] = [:]

    init(
        _ transfer: WorldTransfer, attempts: Int, sets: Bool, reads: [DocumentPath],
        thinking: Duration, in client: WorldClient, of world: World
    ) {
        self.transfer = transfer
        self.reads = reads
        self.sets = sets
        self.thinking = thinking
        self.client = client
        self.world = world
        process = client.process
        session = client.engine!.session
        self.attempts = session.transaction(attempts: attempts)
        attempt = self.attempts.begin()
    }

    func begin() { read(0) }

    private func read(_ index: Int) {
        guard index < reads.count else {
            return later(thinking) { $0.commit() }
        }
        let path = reads[index]
        session.lookUp([path], completion: here { $0.wasRead(path, index: index, result: $1) })
    }

    private func wasRead(
        _ path: DocumentPath, index: Int,
        result: Result<[(Document?, readTime: Timestamp)], SyncError>
    ) {
        do throws(SyncError) {
            let document = try result.get()[0].0
            try attempt.read(path, document)
            found[path] = document
        } catch { return failed(error) }
        read(index + 1)
    }

    // MARK: Writing

    private func commit() {
        let mutations: [Mutation]
        do throws(SyncError) {
            try attempt.write(account(transfer.from, -transfer.amount))
            try attempt.write(account(transfer.to, transfer.amount))
            try attempt.write(receipt)
            mutations = try attempt.take()
        } catch { return failed(error) }
        world.bank.sent(transfer.id)
        session.commit(mutations, completion: here { $0.wasCommitted($1) })
    }

    private func account(_ path: DocumentPath, _ amount: Int64) -> Mutation {
        let document = found[path]
        let fields: MapValue = [
            "b": .integer(WorldBank.balance(document) + amount),
            "n": .integer(WorldBank.count(document) + 1),
        ]
        let mask = [FieldPath(name: "b"), FieldPath(name: "n")]
        return Mutation(path: path, sets ? .set(fields) : .patch(fields, mask: mask))
    }

    private var receipt: Mutation {
        Mutation(
            path: DocumentPath(unchecked: "\(WorldBank.receipts)/\(transfer.id)"),
            .set(["amount": .integer(transfer.amount)]))
    }

    private func wasCommitted(_ result: Result<Timestamp, CommitFailure>) {
        switch result {
        case .success(let time):
            let written = [transfer.from, transfer.to]
            for path in reads where !written.contains(path) {
                world.witness.unchecked.reads.append(
                    (transfer.id, path, found[path]?.updateTime, committed: time))
            }
            end(.applied(time))
        case .failure(let failure):
            attempts.commitFailed(failure, of: attempt)
            failed(failure.error)
        }
    }

    // MARK: Trying again

    private func failed(_ error: SyncError) {
        let code = RPCStatus.Code(rawValue: Int32(FirestoreError(error).code.rawValue))!
        world.noteValues { [id = transfer.id] in "\(id) fails: \(error)" }
        guard attempts.mayFollow(attempt, failedWith: code) else { return giveUp(error) }
        session.checkOffline(
            completion: here { transaction, isOffline in
                if isOffline { return transaction.giveUp(error) }
                transaction.waitForNextAttempt()
            })
    }

    private func waitForNextAttempt() {
        let next = here { (transaction: WorldTransaction, _: Void) in
            transaction.found = [:]
            transaction.attempt = transaction.attempts.begin()
            transaction.begin()
        }
        session.waitForNextAttempt(of: &attempts) { next(()) }
    }

    private func giveUp(_ error: SyncError) {
        end(attempts.isInDoubt ? .unknown(attempts.errorInDoubt!) : .failed(error))
    }

    private func end(_ state: WorldTransfer.State) {
        world.noteValues { [id = transfer.id, made = attempts.made] in
            "\(id) after \(made) attempts: \(state)"
        }
        world.bank.set(transfer.id, state)
        client.ended(self)
    }

    // MARK: In the process

    /// Returns a callback that passes its value to the transaction unless the process has ended.
    private func here<Value>(
        _ body: @escaping (WorldTransaction, Value) -> Void
    ) -> @Sendable (Value) -> Void {
        let process = process
        let sink = WorldBox { [weak self] in self }
        // No thread is crossed, because a world uses only one.
        nonisolated(unsafe) let body = body
        return { value in
            guard process.isAlive, let transaction = sink.value() else { return }
            body(transaction, value)
        }
    }

    private func later(_ delay: Duration, _ body: @escaping (WorldTransaction) -> Void) {
        let job = here { (transaction: WorldTransaction, _: Void) in body(transaction) }
        process.after(delay) { job(()) }
    }
}
