import Synchronization
import TidemarkModel
package import TidemarkStore

/// What a server held at one moment: documents, their history, and where its clocks stood.
package struct ServerSnapshot: Sendable {
    let store: StoreSnapshot
    let clocks: DatabaseClocks.Saved
}

extension ServerCore {
    func snapshot() throws(StoreError) -> ServerSnapshot {
        ServerSnapshot(store: try store.snapshot(), clocks: clocks.saved)
    }

    /// Goes back to the snapshot. All calls and streams end with `unavailable`: what they were told is
    /// of a history that is no more. So are resume tokens made since, and the data therefore gets a
    /// new identity.
    func restore(_ snapshot: ServerSnapshot) throws -> [Output] {
        try store.restore(snapshot.store)
        let identity = Int64(truncatingIfNeeded: environment.randomBits())
        let histories = try store.write(.process) { transaction in
            try transaction.execute(
                "UPDATE serverIdentity SET incarnation = ?", [.integer(identity)])
            return try WriteStreamTable(transaction: transaction).count()
        }
        streams.restore(storedHistories: histories)
        clocks.restore(snapshot.clocks, incarnation: identity)
        return endAll(RPCStatus(.unavailable, "The server went back to a snapshot."))
    }
}

extension FirestoreServer {
    /// Everything the server holds, once what was asked of it before is done.
    ///
    /// - Throws: When there is no memory for the copy.
    package func snapshot() throws(StoreError) -> ServerSnapshot {
        try alone { core throws in (try core.snapshot(), []) }
    }

    /// Goes back to a snapshot of this server, or of another. Its streams end with `unavailable`.
    ///
    /// - Throws: When the store cannot take it; nothing has changed then.
    package func restore(_ snapshot: ServerSnapshot) throws(StoreError) {
        try alone { core throws in ((), try core.restore(snapshot)) }
    }

    /// Runs `body` between two turns, when nothing waits.
    private func alone<T: Sendable>(
        _ body: @Sendable (ServerCore) throws -> (T, [Output])
    ) throws(StoreError) -> T {
        let result = Mutex<Result<T, any Error>?>(nil)
        executor.sync {
            while runBatch() {}
            do {
                let (value, outputs) = try core.withLock { core throws in try body(core) }
                deliver(outputs)
                result.withLock { $0 = .success(value) }
            } catch { result.withLock { $0 = .failure(error) } }
        }
        switch result.withLock({ $0 }) {
        case .success(let value)?: return value
        case .failure(let error)?:
            throw error as? StoreError ?? .unreadable(detail: "\(error)")
        case nil: preconditionFailure("the executor did not run its job")
        }
    }
}
