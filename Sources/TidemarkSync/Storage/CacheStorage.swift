import TidemarkModel
import TidemarkStore

/// The engine's present cache: its user, its ability to store, and its log.
///
/// Reads and writes use ``local``. The end of each transaction is reported here.
final class CacheStorage {
    private let context: EngineContext
    let opening: CacheOpening
    private var current: LocalStore
    /// The user who owns ``local``; nil before the first sign-in.
    private(set) var user: String?
    private var health = StorageHealth()
    private var isCurrentDamaged = false
    /// True if the file of ``local`` is closed until another cache replaces it.
    private(set) var isClosed = false
    /// The saved queue of a damaged cache that was set aside, until a new cache can be made.
    private var rescued: SavedQueue?
    /// The length in pages when the log was last found to be long.
    private var lengthOfLog = 0
    private var observers: [UInt64: @Sendable (StorageState) -> Void] = [:]
    /// The word indexes that the app has set since the engine began; nil if it has set none.
    private var declaredWords: [WordIndexDefinition]?
    /// True if the present cache may lack some of ``declaredWords``.
    private(set) var lacksWords = false

    init(
        _ context: EngineContext, opening: CacheOpening, local: LocalStore, of user: String?
    ) {
        self.context = context
        self.opening = opening
        self.user = user
        current = local
        watchCurrent()
    }

    var local: LocalStore { current }
    private var files: CacheFiles { opening.files }
    var isShared: Bool { files.isShared }
    /// True if ``local`` is a copy and its holder has stored something since.
    var isOutdated: Bool { current.isOutdated }
    /// True if another cache must replace ``local``.
    var isDamaged: Bool { isCurrentDamaged || rescued != nil }
    func location(of user: String?) -> DocumentStore.Location { files.location(of: user) }

    private func watchCurrent() {
        #if TIDEMARK_DEFECTS
            current.defects = context.environment.defects
        #endif
        current.outcome = { [unowned self] in transactionEnded($0) }
        if case .share = context.configuration.busyCache { current.queue.notesFates = true }
        current.elapsed = { [scheduler = context.environment.scheduler] in scheduler.elapsed }
    }

    // MARK: Health

    private func transactionEnded(_ fault: StorageFault?) {
        if case .damaged? = fault { isCurrentDamaged = true }
        ended(fault)
        if fault == nil { wantLogMoved() }
    }

    /// Handles the end of every transaction that wrote or failed.
    func ended(_ fault: StorageFault?) {
        guard context.gate.isRunning else { return }
        if let fault {
            perform(
                health.step(
                    .failed(
                        fault, elapsed: context.elapsed, jitter: context.environment.random())))
        } else if health != StorageHealth() {
            perform(health.step(.stored))
            if context.gate.maySend { perform(health.step(.recovered)) }
        }
    }

    func retryBegins() { perform(health.step(.retrying)) }

    private func perform(_ effects: [StorageHealth.Effect]) {
        for effect in effects {
            switch effect {
            case .changed(let state):
                context.gate.storageIs(state)
                for id in observers.keys.sorted() { observers[id]?(state) }
            case .scheduleRetry(let delay): context.schedule(.storageRetry, after: delay)
            case .cancelRetry: context.cancelTimer(.storageRetry)
            }
        }
    }

    /// Reports the present state immediately, and then every change.
    func observe(_ id: UInt64, _ observer: @escaping @Sendable (StorageState) -> Void) {
        observers[id] = observer
        observer(health.state)
    }

    func removeObserver(_ id: UInt64) { observers[id] = nil }
    func removeObservers() { observers = [:] }

    // MARK: The log

    /// The time without writes after which a burst is over.
    private static let pauseBeforeLog = Duration.milliseconds(50)

    private func wantLogMoved() {
        guard context.gate.isRunning, !context.isScheduled(.logMoving), current.store.hasLongLog
        else { return }
        lengthOfLog = current.store.pagesInLog
        context.schedule(.logMoving, after: Self.pauseBeforeLog)
    }

    /// Moves the log. The move waits for the disk, and a write a moment later starts a new log. So
    /// the log is not moved within a burst, and not within a write for which a caller waits, unless
    /// the log is very long.
    func moveLog() {
        guard current.store.hasLongLog else { return }
        guard current.store.pagesInLog == lengthOfLog else { return wantLogMoved() }
        current.store.moveLog()
    }

    // MARK: Another cache

    /// Writes all remaining content and releases the file, which another process may then open.
    /// Content in memory or in a copy stays.
    func closeForNow() {
        guard case .file = files.location(of: user), !context.gate.isReadOnly, !isClosed else {
            return
        }
        current.outcome = { _ in }
        // Only newer tokens remained to be written; without them the next listen reads a little
        // more.
        do { try current.close() } catch {}
        isClosed = true
    }

    /// Replaces the present cache, which receives no further events.
    func replace(by new: LocalStore, of user: String?) {
        #if TIDEMARK_DEFECTS
            if context.isPlanted(.overlaysOfUserBefore) {
                new.queue.keepOverlays(of: current.queue)
            }
        #endif
        current.outcome = { _ in }
        current = new
        self.user = user
        isCurrentDamaged = false
        isClosed = false
        watchCurrent()
        lacksWords = declaredWords != nil
    }

    // MARK: Word indexes

    /// Returns the word indexes of the app, also those that the present cache has not made yet.
    func words() throws -> [WordIndexDefinition] {
        if let declaredWords { return declaredWords }
        let states = try local.read { try $0.documents(of: context.database).wordIndexes() }
        return states.map(\.definition)
    }

    /// Makes these the word indexes of this cache, and of those that replace it.
    func set(words: [WordIndexDefinition]) throws {
        try store(words)
        declaredWords = words
    }

    /// Makes the word indexes of the app in a cache that has replaced another.
    func makeLackingWords() throws {
        guard lacksWords, let declaredWords else { return }
        try store(declaredWords)
    }

    private func store(_ words: [WordIndexDefinition]) throws {
        try local.write(.declareIndexes) { transaction in
            do throws(StoreError) {
                try transaction.documents(of: context.database).setWordIndexes(words)
            } catch {
                guard case .noFullText = error else { throw error }
                // The file has no fault, and stays in use.
                throw SyncError.server(RPCStatus(.unimplemented, error.message))
            }
        }
        lacksWords = false
    }

    // MARK: Another queue

    /// Switches to the queue of another user who shares the cache.
    ///
    /// - Parameter swapping: Receives the previous user after the last step that can fail.
    /// - Returns: The documents with pending writes of either user, as they look now.
    func takeUpQueue(
        of next: String?, swapping: (_ previous: String?) -> Void
    ) throws -> [LocalDocument] {
        let changed = try current.queue.changeUser(to: next)
        swapping(user)
        user = next
        return changed
    }

    /// Returns the saved content of a damaged cache, whose file is set aside. Further calls return
    /// the same content until ``rescueIsOver()``.
    func rescue() throws -> SavedQueue {
        if let rescued { return rescued }
        let saved = try salvage()
        rescued = saved
        return saved
    }

    func rescueIsOver() { rescued = nil }

    private func salvage() throws -> SavedQueue {
        // No other connection may read the file while this one is open.
        try? current.store.close()
        guard case .file(let path) = files.location(of: user) else { return SavedQueue() }
        let saved = try SavedQueue(salvaging: path, key: context.environment.storeKey)
        try DocumentStore.setAside(path)
        return saved
    }
}
