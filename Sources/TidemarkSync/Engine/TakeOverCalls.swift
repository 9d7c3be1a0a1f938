package import TidemarkModel

/// The calls that take over another client's cache in parts. No call asks the server.
package struct TakeOverCalls: Sendable {
    private let engine: SyncEngine
    package let source: TakeOverSource

    /// - Parameter source: The other cache, and the user to whom its documents belong. Every call
    ///   fails with `failedPrecondition` while the engine has another user.
    package init(_ engine: SyncEngine, _ source: TakeOverSource) {
        self.engine = engine
        self.source = source
    }

    /// Begins a take-over, or continues after the last part.
    package func begin(
        completion: @escaping @Sendable (Result<TakeOverState, SyncError>) -> Void
    ) {
        engine.perform { [source] core in
            completion(core.takeOver(for: source.user) { try $0.begin(source) })
        }
    }

    /// Stores some documents, and the position behind them, in one transaction.
    ///
    /// - Parameter completion: Receives the number of documents that had no room: those of no
    ///   target, if the cache is nearly full.
    package func take(
        _ part: TakeOverPart, completion: @escaping @Sendable (Result<Int, SyncError>) -> Void
    ) {
        engine.perform { [source] core in completion(core.takeOver(part, of: source)) }
    }

    /// Stores a target with all its documents in one transaction.
    ///
    /// - Parameter completion: Receives true if the target was taken; false if this cache knows
    ///   the query's result already.
    package func take(
        _ target: TakenTarget, with documents: [TakenDocument],
        completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        engine.perform { [source] core in
            completion(core.takeOver(target, with: documents, source.user))
        }
    }

    /// Adopts the targets whose rows are all stored.
    ///
    /// - Parameter completion: Receives the number of adopted targets.
    package func adopt(
        _ targets: [TakenTarget], completion: @escaping @Sendable (Result<Int, SyncError>) -> Void
    ) {
        engine.perform { [source] core in
            completion(core.takeOver(for: source.user) { try $0.adopt(targets) })
        }
    }

    /// Stores bundles and named queries that this cache does not have.
    package func take(
        _ bundles: [TakenBundle], _ queries: [TakenNamedQuery],
        completion: @escaping @Sendable (Result<Void, SyncError>) -> Void
    ) {
        engine.perform { [source] core in
            completion(core.takeOver(for: source.user) { try $0.take(bundles, queries) })
        }
    }

    /// Completes the take-over.
    ///
    /// - Parameter version: The version of the other client's last snapshot.
    package func finish(
        version: Timestamp, completion: @escaping @Sendable (Result<Void, SyncError>) -> Void
    ) {
        engine.perform { [source] core in
            completion(core.takeOver(for: source.user) { try $0.finish(source, version: version) })
        }
    }
}

extension EngineCore {
    /// The share of the cache's size, in percent, from which documents of no target have no room.
    private static let fullShare: Int64 = 80

    /// Returns the result of `body`, if the user is the one of this cache.
    fileprivate func takeOver<Success>(
        for user: String?, _ body: (LocalTakeOver) throws -> Success
    ) -> Result<Success, SyncError> {
        stored { local in
            guard UserKey(user) == UserKey(local.queue.user) else {
                throw SyncError.server(
                    RPCStatus(.failedPrecondition, "The cache is another user's."))
            }
            return try body(local.takeOver)
        }
    }

    fileprivate func takeOver(
        _ part: TakeOverPart, of source: TakeOverSource
    ) -> Result<Int, SyncError> {
        takeOver(for: source.user) { takeOver in
            var part = part
            let count = part.documents.count
            if part.documents.contains(where: \.targets.isEmpty), try isFull(Self.fullShare) {
                part.documents.removeAll(where: \.targets.isEmpty)
            }
            parts.views.refresh(try takeOver.take(part, of: source))
            return count - part.documents.count
        }
    }

    fileprivate func takeOver(
        _ target: TakenTarget, with documents: [TakenDocument], _ user: String?
    ) -> Result<Bool, SyncError> {
        takeOver(for: user) { takeOver in
            let (changed, isTaken) = try takeOver.take(target, with: documents)
            parts.views.refresh(changed)
            return isTaken
        }
    }
}
