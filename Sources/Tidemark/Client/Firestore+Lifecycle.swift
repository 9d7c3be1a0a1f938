import Dispatch
import Synchronization

extension Firestore {
    /// Goes online again after ``disableNetwork()``.
    public func enableNetwork() async { await setNetwork(enabled: true) }

    /// Goes offline: reads are answered from the cache, and writes wait in the queue.
    public func disableNetwork() async { await setNetwork(enabled: false) }

    /// Tries again at once what waits for its next attempt. Call it when the system reports a
    /// network, or when the app comes to the foreground. Does nothing when the client is connected.
    public func networkMayBeBack() { engine.networkMayBeBack() }

    private func setNetwork(enabled: Bool) async {
        await withCheckedContinuation { continuation in
            engine.setNetworkEnabled(enabled) { continuation.resume() }
        }
    }

    /// Returns when all writes that are pending now have been acknowledged or rejected.
    public func waitForPendingWrites() async throws(FirestoreError) {
        try await answer { finish in
            engine.waitForPendingWrites { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Ends all listeners and calls, and closes the cache. Every later use throws. Writes in the
    /// queue stay there; the next client on the same cache sends them.
    public func terminate() async {
        Firestore.forget(self)
        let client = started
        let isFirst = client.isTerminated.withLock { ended in
            defer { ended = true }
            return !ended
        }
        guard isFirst else { return }
        await withCheckedContinuation { continuation in
            client.engine.terminate { continuation.resume() }
        }
        await client.connection?.close()
    }

    /// Deletes the caches of all users of this database, with the writes that were never sent.
    ///
    /// - Throws: `failedPrecondition` while the client is in use: before its first use, or after
    ///   ``terminate()`` has returned, it can be done.
    public func clearPersistence() async throws(FirestoreError) {
        if let client = startedClient, !client.isTerminated.withLock({ $0 }) {
            throw FirestoreError(
                .failedPrecondition, "Terminate the client before its cache is cleared.")
        }
        guard let file = settings.values.cacheFile(of: databaseID) else { return }
        do throws(SyncError) { try SyncEngine.eraseCaches(file) } catch {
            throw FirestoreError(error)
        }
    }
}

// The same for callers with closures, which are called on the listeners' queue.

extension Firestore {
    public func enableNetwork(completion: (@Sendable ((any Error)?) -> Void)?) {
        callBack(completion) { () async throws(FirestoreError) in await self.enableNetwork() }
    }

    public func disableNetwork(completion: (@Sendable ((any Error)?) -> Void)?) {
        callBack(completion) { () async throws(FirestoreError) in await self.disableNetwork() }
    }

    public func waitForPendingWrites(completion: @escaping @Sendable ((any Error)?) -> Void) {
        // Asked here and not in a task, so that it speaks of the writes before this call.
        let queue = callbackQueue
        engine.waitForPendingWrites { error in
            queue.async { completion(error.map { FirestoreError($0) }) }
        }
    }

    public func terminate(completion: (@Sendable ((any Error)?) -> Void)?) {
        callBack(completion) { () async throws(FirestoreError) in await self.terminate() }
    }

    public func clearPersistence(completion: (@Sendable ((any Error)?) -> Void)?) {
        let queue = settings.dispatchQueue
        Task {
            do throws(FirestoreError) {
                try await self.clearPersistence()
                queue.async { completion?(nil) }
            } catch { queue.async { completion?(error) } }
        }
    }

    /// Runs what gives no result for a caller that may have passed a closure.
    func callBack(
        _ completion: (@Sendable ((any Error)?) -> Void)?,
        _ body: @escaping @Sendable () async throws(FirestoreError) -> Void
    ) {
        let queue = callbackQueue
        Task {
            do throws(FirestoreError) {
                try await body()
                queue.async { completion?(nil) }
            } catch { queue.async { completion?(error) } }
        }
    }
}
