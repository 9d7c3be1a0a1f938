import Synchronization
import TidemarkModel
import TidemarkStore

/// The client: cache, mutation queue, listens and their streams, on one serial executor.
///
/// Every method can be called from any thread and returns immediately. Results are passed to the
/// closures on the engine's executor. Steps do not suspend, and call SQLite synchronously. If a
/// method has a parameter `here` that is true and the executor is idle, the step runs on the
/// calling thread, and the closure may be called before the method returns.
public final class SyncEngine: Sendable {
    /// Opens the cache and starts.
    ///
    /// - Throws: ``SyncError/storage(_:)`` if the cache cannot be opened.
    public init(_ configuration: Configuration, _ environment: SyncEnvironment) throws(SyncError) {
        do { core = try EngineCore(configuration, environment) } catch {
            throw SyncError(storing: error)
        }
        scheduler = environment.scheduler
        sessions = Mutex(SessionCounter(user: configuration.user))
        perform { $0.start() }
    }

    /// Makes an engine that refuses everything with this error, for a client that could not be
    /// created.
    package init(
        refusing error: SyncError, _ configuration: Configuration, _ environment: SyncEnvironment
    ) {
        var empty = configuration
        empty.cacheFile = nil
        empty.user = nil
        var quiet = environment
        quiet.storageFault = nil
        quiet.cacheEncryption = nil
        // SQLite fails to open memory only if the process has none left.
        core = try! EngineCore(empty, quiet)
        core.refuse(error)
        scheduler = environment.scheduler
        sessions = Mutex(SessionCounter(user: nil))
    }

    /// True if the engine shows a copy of a cache that another engine has open.
    package var isReadOnly: Bool { core.isReadOnly }

    let core: EngineCore
    let scheduler: any EngineScheduler
    private let nextListener = Atomic<UInt64>(0)
    let sessions: Mutex<SessionCounter>

    func perform(_ job: @escaping @Sendable (EngineCore) -> Void) {
        let core = core
        scheduler.enqueue { core.run(job) }
    }

    /// - Parameter here: True if the job may run on the calling thread.
    func perform(here: Bool, _ job: @escaping @Sendable (EngineCore) -> Void) {
        let core = core
        if here, scheduler.runIfIdle({ core.run(job) }) { return }
        scheduler.enqueue { core.run(job) }
    }

    func subscribe(
        _ start: @escaping @Sendable (EngineCore, UInt64) -> Void,
        end: @escaping @Sendable (EngineCore, UInt64) -> Void
    ) -> any CancellableCall {
        let id = newListenerID()
        perform { start($0, id) }
        return Subscription(id, core: core, end: end)
    }

    func newListenerID() -> UInt64 {
        nextListener.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Releases the cache's file as a kill of the process would: nothing is written and no caller
    /// is notified. Call it while the engine's executor is idle; the executor must run none of the
    /// engine's jobs afterwards.
    package func abandon() { core.abandonCache() }

    /// Stops everything and closes the cache. Later calls fail with ``SyncError/terminated``.
    public func terminate(completion: @escaping @Sendable () -> Void) {
        perform { $0.terminate(completion) }
    }
}

// MARK: - Network and users

extension SyncEngine {
    public func setNetworkEnabled(_ enabled: Bool, completion: @escaping @Sendable () -> Void) {
        perform { $0.setNetworkEnabled(enabled, completion) }
    }

    /// Reports that the network returned or changed, or that the app became active. Pending retries
    /// happen now.
    public func networkMayBeBack() { perform { $0.networkMayBeBack() } }

    /// Ends streams and calls, and closes the cache's file until ``resume()``. Listeners stay. All
    /// other requests meanwhile fail with ``SyncError/suspended``.
    public func suspend(completion: @escaping @Sendable () -> Void) {
        perform { $0.suspend(completion) }
    }

    /// Opens the cache's file again and continues. Later requests are answered from the file.
    public func resume() { perform { $0.resume() } }

    /// Calls `completion` when all currently pending writes have been acknowledged or rejected.
    public func waitForPendingWrites(completion: @escaping @Sendable (SyncError?) -> Void) {
        perform { $0.parts.writing.watch.waitForPendingWrites(completion) }
    }

    /// Changes the engine's user in one step. Listeners receive the new user's rows, and the
    /// previous user's pending writes stay in that user's queue until the user returns. Reads that
    /// wait for the server fail with ``SyncError/userChanged``. If the new cache cannot be opened,
    /// opening is retried, and everything else is refused with the reason.
    ///
    /// - Parameter erasesPrevious: True to delete the previous user's data, including writes that
    ///   were never sent. Not allowed if users share a cache.
    public func changeUser(
        to user: String?, erasesPrevious: Bool = false,
        completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        // The lock ensures that changes reach the engine in the order of their numbers.
        sessions.withLock { sessions in
            sessions.change(to: user)
            let change = UserChange(
                user: user, session: sessions.number, erasesPrevious: erasesPrevious,
                completion: completion)
            perform { $0.changeUser(change) }
        }
    }

    /// The session of the present user.
    package var session: UserSession { UserSession(self, sessions.withLock { $0 }) }

    /// Deletes the caches of all users with this ``Configuration/cacheFile``. No engine may have
    /// one of them open.
    package static func eraseCaches(_ cacheFile: String) throws(SyncError) {
        do {
            let users = DocumentStore.files(beginningWith: CacheFiles.usersPrefix(of: cacheFile))
            for file in [cacheFile] + users {
                try DocumentStore.erase(file)
                try StoreInbox.erase(of: file)
            }
        } catch { throw SyncError(storing: error) }
    }

    /// Encrypts the caches of all users with this ``Configuration/cacheFile`` with another key, one
    /// after the other. Caches that have the new key already are not changed. No engine may have
    /// one of them open.
    package static func changeEncryption(
        of cacheFile: String, from old: CacheEncryption?, to new: CacheEncryption
    ) throws(SyncError) {
        let users = DocumentStore.files(beginningWith: CacheFiles.usersPrefix(of: cacheFile))
        do {
            for file in [cacheFile] + users {
                try DocumentStore.changeKey(
                    of: file, migrations: LocalSchema.migrations, from: old?.key, to: new.key)
                try StoreInbox.changeKey(of: file, from: old?.key, to: new.key)
            }
        } catch { throw SyncError(storing: error) }
    }
}

/// A listener or an observer that can be cancelled. Events that are already on the engine's
/// executor still arrive.
final class Subscription: CancellableCall {
    let id: UInt64
    let core: EngineCore
    private let end: @Sendable (EngineCore, UInt64) -> Void

    init(
        _ id: UInt64, core: EngineCore,
        end: @escaping @Sendable (EngineCore, UInt64) -> Void
    ) {
        self.id = id
        self.core = core
        self.end = end
    }

    func cancel() {
        core.environment.scheduler.enqueue { self.core.run { self.end($0, self.id) } }
    }
}
