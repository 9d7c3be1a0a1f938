import Synchronization
import TidemarkModel
import TidemarkStore

/// The client: cache, mutation queue, listens and their streams, on one serial executor.
///
/// Every method may be called from any thread and returns at once; results come to the closures, on
/// the engine's executor. Nothing suspends inside a step, and SQLite is called synchronously there.
/// Where a method has a parameter `here` and is given true, and the executor is idle, its step runs on
/// the calling thread and its closure may be called before it returns.
public final class SyncEngine: Sendable {
    /// Opens the cache and starts.
    ///
    /// - Throws: ``SyncError/storage(_:)`` when the cache cannot be opened.
    public init(_ configuration: Configuration, _ environment: SyncEnvironment) throws(SyncError) {
        do { core = try EngineCore(configuration, environment) } catch {
            throw SyncError(storing: error)
        }
        scheduler = environment.scheduler
        sessions = Mutex(SessionCounter(user: configuration.user))
        perform { $0.start() }
    }

    /// An engine that refuses everything with this error, for a client that could not be made.
    package init(
        refusing error: SyncError, _ configuration: Configuration, _ environment: SyncEnvironment
    ) {
        var empty = configuration
        empty.cacheFile = nil
        empty.user = nil
        var quiet = environment
        quiet.storageFault = nil
        quiet.cacheEncryption = nil
        // SQLite's own memory fails only where the process has none left.
        core = try! EngineCore(empty, quiet)
        core.refuse(error)
        scheduler = environment.scheduler
        sessions = Mutex(SessionCounter(user: nil))
    }

    /// Whether it shows what a cache held that somebody else has open.
    package var isReadOnly: Bool { core.isReadOnly }

    let core: EngineCore
    let scheduler: any EngineScheduler
    private let nextListener = Atomic<UInt64>(0)
    let sessions: Mutex<SessionCounter>

    func perform(_ job: @escaping @Sendable (EngineCore) -> Void) {
        let core = core
        scheduler.enqueue { job(core) }
    }

    /// - Parameter here: Whether it may run on the calling thread.
    func perform(here: Bool, _ job: @escaping @Sendable (EngineCore) -> Void) {
        let core = core
        if here, scheduler.runIfIdle({ job(core) }) { return }
        scheduler.enqueue { job(core) }
    }

    func subscribe(
        _ start: @escaping @Sendable (EngineCore, UInt64) -> Void,
        end: @escaping @Sendable (EngineCore, UInt64) -> Void
    ) -> any CancellableCall {
        let id = newListenerID()
        perform { start($0, id) }
        return Subscription(id, core, end)
    }

    func newListenerID() -> UInt64 {
        nextListener.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Lets go of the cache's file as the kill of the process does: nothing is written and nobody is
    /// told. Called while the engine's executor rests, which runs none of its jobs afterwards.
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

    /// The system says that the network came back or changed, or the app came forward: tries again
    /// now what waits to be tried again.
    public func networkMayBeBack() { perform { $0.networkMayBeBack() } }

    /// Ends streams and calls, and closes the cache's file until ``resume()``. Listeners stay. Everything else
    /// that is asked meanwhile fails with ``SyncError/suspended``.
    public func suspend(completion: @escaping @Sendable () -> Void) {
        perform { $0.suspend(completion) }
    }

    /// Opens the cache's file again, and goes on. What is asked after it is answered from the file.
    public func resume() { perform { $0.resume() } }

    /// Called when all writes that are pending now have been acknowledged or rejected.
    public func waitForPendingWrites(completion: @escaping @Sendable (SyncError?) -> Void) {
        perform { $0.waitForPendingWrites(completion) }
    }

    /// Makes another user the engine's, in one step: its listeners are told the new user's rows, and
    /// what the user before has pending stays in that user's queue until it is the user again.
    /// Reads that wait for the server fail with ``SyncError/userChanged``. While the new cache cannot
    /// be opened it is tried again, and everything else is refused with the reason.
    ///
    /// - Parameter erasesPrevious: Deletes what is kept of the user before, with the writes that
    ///   were never sent. Not where users share a cache.
    public func changeUser(
        to user: String?, erasesPrevious: Bool = false,
        completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        // Within the lock, so that changes reach the engine in the order of their numbers.
        sessions.withLock { sessions in
            sessions.change(to: user)
            let change = UserChange(
                user: user, session: sessions.number, erasesPrevious: erasesPrevious,
                completion: completion)
            perform { $0.changeUser(change) }
        }
    }

    /// The present user's.
    package var session: UserSession { UserSession(self, sessions.withLock(\.number)) }

    /// Deletes the caches of all users that were opened with this ``Configuration/cacheFile``. No
    /// engine may have one of them open.
    package static func eraseCaches(_ cacheFile: String) throws(SyncError) {
        do {
            let users = DocumentStore.files(beginningWith: CacheFiles.usersPrefix(of: cacheFile))
            for file in [cacheFile] + users {
                try DocumentStore.erase(file)
                try StoreInbox.erase(of: file)
            }
        } catch { throw SyncError(storing: error) }
    }

    /// Encrypts the caches of all users that were opened with this ``Configuration/cacheFile`` with another
    /// key, one after the other. Those that have the new key already are left as they are. No engine may
    /// have one of them open.
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

/// A listener or an observer, to be cancelled. Events that are under way on the engine's executor
/// still arrive.
final class Subscription: CancellableCall {
    let id: UInt64
    let core: EngineCore
    private let end: @Sendable (EngineCore, UInt64) -> Void

    init(
        _ id: UInt64, _ core: EngineCore,
        _ end: @escaping @Sendable (EngineCore, UInt64) -> Void
    ) {
        self.id = id
        self.core = core
        self.end = end
    }

    func cancel() {
        core.environment.scheduler.enqueue { self.end(self.core, self.id) }
    }
}
