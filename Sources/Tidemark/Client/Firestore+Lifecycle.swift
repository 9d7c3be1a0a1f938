import Dispatch
import Synchronization
import TidemarkResilience

extension Firestore {
    /// Enables the network again after ``disableNetwork()``.
    public func enableNetwork() async { await setNetwork(enabled: true) }

    /// Disables the network: reads are answered from the cache, and writes wait in the queue.
    public func disableNetwork() async { await setNetwork(enabled: false) }

    /// Immediately retries all operations that wait for their next attempt. Call it when the system
    /// reports a network or a change of network, or when the app comes to the foreground. Call it
    /// even if the connection seems to work: streams restart on a new connection, because the old
    /// connection can be dead without any sign. A cache that could not store the server's data is
    /// retried too, for example after the device was unlocked, and so are the uploads of an outbox
    /// of files. Costs no reads: listeners resume where they were.
    public func networkMayBeBack() {
        engine.networkMayBeBack()
        network.mayBeBack()
    }

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

    /// Ends streams and calls, and closes the cache's file, until ``resume()``.
    ///
    /// Use this for an app that the system is about to suspend, and whose cache is in an app group:
    /// iOS ends an app that is suspended with a lock on such a file (`0xdead10cc`). Another process
    /// can open the cache during the suspension. A cache in the app's own container can stay open.
    ///
    /// Listeners stay, receive their rows marked as cached, and continue after ``resume()``. Reads
    /// that wait for the server, and all calls before ``resume()``, throw `failedPrecondition`.
    /// Writes in the queue stay there. Costs no reads: listeners resume where they were.
    ///
    /// - Parameter grace: The maximum time to send pending writes before the suspension. A
    ///   ``resume()`` within that time leaves the client unchanged.
    public func suspend(after grace: Duration = .zero) async {
        if let pause = beginPause() { await suspend(pause, after: grace) }
    }

    /// Announces a suspension of the client, which a resume before it cancels.
    ///
    /// - Returns: The number of the pause; nil for a client that was not used yet.
    package func beginPause() -> Int? {
        startedClient?.pauses.withLock { pauses in
            pauses += 1
            return pauses
        }
    }

    package func suspend(_ pause: Int, after grace: Duration) async {
        let client = started
        if grace > .zero {
            _ = try? await withTimeout(grace) { try await self.waitForPendingWrites() }
        }
        await withCheckedContinuation { continuation in
            // The lock ensures that a call of resume() comes before or after the suspension.
            client.pauses.withLock { pauses in
                guard pauses == pause else { return continuation.resume() }
                client.engine.suspend { continuation.resume() }
            }
        }
    }

    /// Opens the cache's file again after ``suspend(after:)``, and continues. Does nothing on a
    /// client that is not suspended.
    ///
    /// Calls after `resume()` are answered. If the file cannot be opened, for example on a locked
    /// device or while another process has it open, the client retries. Until it succeeds, all
    /// calls throw the reason: see ``storageStates``.
    public func resume() {
        guard let client = startedClient else { return }
        client.pauses.withLock { pauses in
            pauses += 1
            client.engine.resume()
        }
    }

    /// Ends all listeners and calls, and closes the cache. Every later use throws. Writes in the
    /// queue stay there; the next client on the same cache sends them.
    public func terminate() async {
        Instances.forget(self)
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
    /// - Throws: `failedPrecondition` while the client is in use. The call is allowed before the
    ///   first use, and after ``terminate()`` has returned.
    public func clearPersistence() async throws(FirestoreError) {
        try requireUnused("Terminate the client before you clear its cache.")
        guard let file = settings.values.cacheFile(of: databaseID) else { return }
        do throws(SyncError) { try SyncEngine.eraseCaches(file) } catch {
            throw FirestoreError(error)
        }
    }

    private func requireUnused(_ detail: String) throws(FirestoreError) {
        if let client = startedClient, !client.isTerminated.withLock({ $0 }) {
            throw FirestoreError(.failedPrecondition, detail)
        }
    }

    /// Re-encrypts the caches of all users of this database, with their pending writes: from the
    /// setting ``FirestoreSettings/cacheEncryption``, which can be nil, to another key.
    ///
    /// Each user's cache is changed in a single step: after a kill or a loss of power it has the
    /// old key or the new key. So keep both keys until this function has returned, and call it
    /// again after a start that finds the change unfinished; caches with the new key are left
    /// unchanged. The function reads and writes every page, needs free space of the size of the
    /// largest cache, and does not end when its task is cancelled.
    ///
    /// - Throws: `failedPrecondition` while the client is in use. The call is allowed before the
    ///   first use, and after ``terminate()`` has returned. For other errors,
    ///   ``FirestoreError/storageFault`` states the reason.
    public func changeCacheEncryption(to new: CacheEncryption) async throws(FirestoreError) {
        try requireUnused("Terminate the client before you change the key of its cache.")
        let values = settings.values
        guard let file = values.cacheFile(of: databaseID) else { return }
        do throws(SyncError) {
            try SyncEngine.changeEncryption(of: file, from: values.cacheEncryption, to: new)
        } catch { throw FirestoreError(error) }
    }
}

// The same for callers with closures, which are called on the listeners' queue.

extension Firestore {
    public func enableNetwork(completion: (((any Error)?) -> Void)?) {
        callBack(completion) { () async throws(FirestoreError) in await self.enableNetwork() }
    }

    public func disableNetwork(completion: (((any Error)?) -> Void)?) {
        callBack(completion) { () async throws(FirestoreError) in await self.disableNetwork() }
    }

    public func waitForPendingWrites(completion: @escaping ((any Error)?) -> Void) {
        // The engine is called here and not in a task, so the answer covers the writes before this
        // call.
        let queue = callbackQueue
        let completion = AppClosure(completion)
        engine.waitForPendingWrites { error in
            queue.async { completion.call(error.map { FirestoreError($0) }) }
        }
    }

    public func terminate(completion: (((any Error)?) -> Void)?) {
        callBack(completion) { () async throws(FirestoreError) in await self.terminate() }
    }

    public func suspend(after grace: Duration = .zero, completion: (((any Error)?) -> Void)?) {
        callBack(completion) { () async throws(FirestoreError) in await self.suspend(after: grace) }
    }

    public func clearPersistence(completion: (((any Error)?) -> Void)?) {
        let queue = settings.dispatchQueue
        let completion = AppClosure(completion)
        Task {
            do throws(FirestoreError) {
                try await self.clearPersistence()
                queue.async { completion.call?(nil) }
            } catch { queue.async { completion.call?(error) } }
        }
    }
}

// MARK: One client for the whole process

extension Firestore {
    /// Sets the project of ``firestore(database:)``, like the configuration of the app for
    /// FirebaseFirestore. Call this before the first use of either; existing clients stay
    /// unchanged.
    public static func configure(projectID: String) {
        Instances.configure(projectID: projectID)
    }

    /// The client of the default database, one for the whole process.
    public static func firestore() -> Firestore { firestore(database: "(default)") }

    /// Returns the client of a database, which the whole process shares until the client is
    /// terminated. It opens nothing before its first use, so ``settings`` can be set first.
    ///
    /// The project is the parameter of ``configure(projectID:)`` or, without it,
    /// `GOOGLE_CLOUD_PROJECT` or `GCLOUD_PROJECT` of the environment. If there is none, or if the
    /// database's name is invalid, every use throws the reason.
    public static func firestore(database: String) -> Firestore {
        Instances.client(of: database)
    }

    /// Uses a server on this machine, without TLS. Call this before the first use.
    public func useEmulator(withHost host: String, port: Int) {
        let settings = settings
        settings.host = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        settings.isSSLEnabled = false
        self.settings = settings
    }

    /// Enables or disables the log of all clients of this process on the standard error stream. The
    /// log contains kinds, targets, counts and ends of calls and streams, and of documents only the
    /// names. It is off by default.
    public static func enableLogging(_ isEnabled: Bool) { Log.enable(isEnabled) }

    /// Sets the destination of the log of all clients of this process; the default is the standard
    /// error stream. On Apple's systems `LogSink.system(_:)` is a `Logger`.
    public static func log(to sink: LogSink) { Log.write(to: sink) }
}

// MARK: Users, storage

extension Firestore {
    /// Changes the client's user in a single step.
    ///
    /// Listeners continue with the new user's rows. Data that a user has read or written are not
    /// visible to another user. The pending writes of the previous user stay in that user's queue,
    /// and are sent when that user is set again. Reads in progress throw `cancelled`.
    ///
    /// Returns when the switch is done. While the new user's cache cannot be opened, the client
    /// retries, and all other calls throw the reason.
    ///
    /// - Parameters:
    ///   - user: The app's own id of at most 128 bytes; nil if no user is signed in.
    ///   - erasingPrevious: True to delete the data of the previous user, with the writes that were
    ///     never sent. Use it for a sign-out on a shared device. The receipts of these writes throw
    ///     `cancelled`.
    /// - Throws: `invalidArgument` for an id that is empty or too long, and for the deletion of a
    ///   cache that users share.
    public func changeUser(
        to user: String?, erasingPrevious: Bool = false
    ) async throws(FirestoreError) {
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.changeUser(to: user, erasesPrevious: erasingPrevious) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// The states of the storage on this device: first the present state, then every change. The
    /// sequence ends when the loop is left. While the state is `failing`, reads are answered if
    /// possible, writes throw the reason, and the client retries until it can store data; no
    /// restart is needed.
    public var storageStates: AsyncStream<StorageState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { input in
            let handle = engine.observeStorage { input.yield($0) }
            input.onTermination = { _ in handle.cancel() }
        }
    }

    /// Adds a listener for ``storageStates``, for callers with closures.
    public func addStorageStateListener(
        _ listener: @escaping (StorageState) -> Void
    ) -> any ListenerRegistration {
        let queue = callbackQueue
        let listener = AppClosure(listener)
        return Registration { isRemoved in
            engine.observeStorage { state in
                queue.async { if !isRemoved() { listener.call(state) } }
            }
        }
    }

    /// Calls `listener` once now, and each time after all listeners have received the snapshots of
    /// the same changes. At that time, the rows of all listeners are consistent.
    public func addSnapshotsInSyncListener(
        _ listener: @escaping () -> Void
    ) -> any ListenerRegistration {
        let queue = callbackQueue
        let listener = AppClosure(listener)
        return Registration { isRemoved in
            engine.observeSnapshotsInSync {
                queue.async { if !isRemoved() { listener.call() } }
            }
        }
    }
}
