import Dispatch
import Synchronization
import TidemarkResilience

extension Firestore {
    /// Goes online again after ``disableNetwork()``.
    public func enableNetwork() async { await setNetwork(enabled: true) }

    /// Goes offline: reads are answered from the cache, and writes wait in the queue.
    public func disableNetwork() async { await setNetwork(enabled: false) }

    /// Tries again at once what waits for its next attempt. Call it when the system reports a
    /// network or another one, or when the app comes to the foreground. Also while all seems well: streams
    /// begin again on a new connection, since the old one may be dead without anybody having noticed.
    /// A cache that could not store what the server said is tried again too, as after the device was unlocked.
    /// Costs no reads: listeners go on where they were.
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

    /// Ends streams and calls, and closes the cache's file, until ``resume()``.
    ///
    /// For an app that the system is about to suspend, and whose cache lies in an app group: iOS ends an app
    /// that is suspended with a lock on such a file (`0xdead10cc`). Another process can open the cache
    /// meanwhile. A cache in the app's own container may stay open.
    ///
    /// Listeners stay, are told that what they show is the cache's, and go on after ``resume()``. Reads that
    /// wait for the server, and everything that is asked before ``resume()``, throw `failedPrecondition`.
    /// Writes in the queue stay there. Costs no reads: listeners go on where they were.
    ///
    /// - Parameter grace: How long what is pending may still be sent. ``resume()`` within it leaves the client
    ///   as it is.
    public func suspend(after grace: Duration = .zero) async {
        if let pause = beginPause() { await suspend(pause, after: grace) }
    }

    /// Says that the client is about to be suspended, unless it is resumed first.
    ///
    /// - Returns: The number of the pause; nil for a client that has nothing open.
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
            // Within the lock, so that a call of resume() comes before it or after it.
            client.pauses.withLock { pauses in
                guard pauses == pause else { return continuation.resume() }
                client.engine.suspend { continuation.resume() }
            }
        }
    }

    /// Opens the cache's file again after ``suspend(after:)``, and goes on. Does nothing on a client that is
    /// not suspended.
    ///
    /// What is asked after it is answered. A file that cannot be opened, as on a locked device or while
    /// another process has it, is tried again, and until then everything throws why: ``storageStates``.
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
    /// - Throws: `failedPrecondition` while the client is in use: before its first use, or after
    ///   ``terminate()`` has returned, it can be done.
    public func clearPersistence() async throws(FirestoreError) {
        try requireUnused("Terminate the client before its cache is cleared.")
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

    /// Encrypts the caches of all users of this database anew, with their writes that wait: from what
    /// ``FirestoreSettings/cacheEncryption`` says, which may be nothing, to another key.
    ///
    /// Each user's cache is changed in one step: after a kill or a loss of power it has the old key or the
    /// new one. So keep both until this has returned, and call it again after a start that finds it
    /// unfinished; caches that have the new key are left as they are. It reads and writes every page, needs
    /// room for the largest of the caches once more, and does not end when its task is cancelled.
    ///
    /// - Throws: `failedPrecondition` while the client is in use: before its first use, or after
    ///   ``terminate()`` has returned, it can be done. Otherwise ``FirestoreError/storageFault`` says why.
    public func changeCacheEncryption(to new: CacheEncryption) async throws(FirestoreError) {
        try requireUnused("Terminate the client before the key of its cache is changed.")
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
        // Asked here and not in a task, so that it speaks of the writes before this call.
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
    /// Names the project of ``firestore(database:)``: what configuring the app is for
    /// FirebaseFirestore. To be called before the first use of either; clients that there are stay as
    /// they are.
    public static func configure(projectID: String) {
        Instances.configure(projectID: projectID)
    }

    /// The client of the default database, one for the whole process.
    public static func firestore() -> Firestore { firestore(database: "(default)") }

    /// The client of a database, one for the whole process until it is terminated. Opens nothing
    /// before its first use, so that ``settings`` can be set first.
    ///
    /// The project is the one that ``configure(projectID:)`` named or, without it, the environment's
    /// `GOOGLE_CLOUD_PROJECT` or `GCLOUD_PROJECT`. Where there is none, or the database's name is no
    /// name, every use throws why.
    public static func firestore(database: String) -> Firestore {
        Instances.client(of: database)
    }

    /// Speaks to a server on this machine, without TLS. To be called before the first use.
    public func useEmulator(withHost host: String, port: Int) {
        let settings = settings
        settings.host = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        settings.isSSLEnabled = false
        self.settings = settings
    }

    /// Whether all clients of this process log what they send and hear, on the standard error stream:
    /// kinds, targets, counts and ends of calls and streams, and of documents the names alone. Off
    /// unless it is turned on.
    public static func enableLogging(_ isEnabled: Bool) { Log.enable(isEnabled) }

    /// Where all clients of this process log from now on: the standard error stream unless it is said. On
    /// Apple's systems `LogSink.system(_:)` is a `Logger`.
    public static func log(to sink: LogSink) { Log.write(to: sink) }
}

// MARK: Users, storage

extension Firestore {
    /// Makes another user the client's, in one step.
    ///
    /// Listeners go on: they are told the new user's rows. Nothing that one user has read or written is
    /// visible to another. What the user before has pending stays in that user's queue, and is sent
    /// when it is the user again. Reads that are under way throw `cancelled`.
    ///
    /// Returns once the switch is done. While the new user's cache cannot be opened it is tried again,
    /// and until then every other call is refused with the reason.
    ///
    /// - Parameters:
    ///   - user: The app's own id of at most 128 bytes; nil when nobody is signed in.
    ///   - erasingPrevious: Deletes what is kept of the user before, with the writes that were never
    ///     sent: what a sign-out on a shared device asks for. Their receipts throw `cancelled`.
    /// - Throws: `invalidArgument` for an id that is empty or too long, and for erasing a cache that
    ///   users share.
    public func changeUser(
        to user: String?, erasingPrevious: Bool = false
    ) async throws(FirestoreError) {
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.changeUser(to: user, erasesPrevious: erasingPrevious) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Whether this device can store data: the present state at once, then every change. Ends when
    /// the loop is left. While it is `failing`, reads are answered where they can be, writes are
    /// refused with the reason, and storing is tried again until it succeeds; nothing has to be
    /// restarted.
    public var storageStates: AsyncStream<StorageState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { input in
            let handle = engine.observeStorage { input.yield($0) }
            input.onTermination = { _ in handle.cancel() }
        }
    }

    /// As ``storageStates``, for callers with closures.
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

    /// Calls `listener` once now, and then whenever listeners have been given snapshots: all of them
    /// have seen the same changes then, so that what they show fits together.
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
