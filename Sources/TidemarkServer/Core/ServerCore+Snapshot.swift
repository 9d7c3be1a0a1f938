import Synchronization
import TidemarkModel
package import TidemarkStore

/// The state of a server at a moment: documents, their history, and the clocks.
package struct ServerSnapshot: Sendable {
    let store: StoreSnapshot
    let clocks: DatabaseClocks.Saved
}

extension ServerCore {
    func snapshot() throws(StoreError) -> ServerSnapshot {
        ServerSnapshot(store: try store.snapshot(), clocks: clocks.saved)
    }

    /// Restores the snapshot. All calls and streams end with `unavailable`, because they have
    /// received data of a discarded history. Resume tokens since the snapshot are also invalid, so
    /// the data get a new identity.
    func restore(_ snapshot: ServerSnapshot) throws -> [Output] {
        try store.restore(snapshot.store)
        let identity = Int64(truncatingIfNeeded: environment.randomBits())
        let histories = try store.write(.process) { transaction in
            try transaction.execute(
                "UPDATE serverIdentity SET incarnation = ?", [.integer(identity)])
            try events.rewrite(in: transaction)
            return try WriteStreamTable(transaction: transaction).count()
        }
        streams.restore(storedHistories: histories)
        clocks.restore(snapshot.clocks, incarnation: identity)
        return endAll(RPCStatus(.unavailable, "The server went back to a snapshot."))
    }
}

extension FirestoreServer {
    /// Returns a snapshot of everything in the server, after all earlier requests are done.
    ///
    /// - Throws: ``StoreError`` if there is no memory for the copy.
    package func snapshot() throws(StoreError) -> ServerSnapshot {
        try alone { core throws in (try core.snapshot(), []) }
    }

    /// Restores a snapshot of this server or of another. Streams end with `unavailable`.
    ///
    /// - Throws: ``StoreError`` if the store cannot take the snapshot. Nothing has changed then.
    package func restore(_ snapshot: ServerSnapshot) throws(StoreError) {
        try alone { core throws in ((), try core.restore(snapshot)) }
    }

    /// Runs `body` between two turns, when no command waits.
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
