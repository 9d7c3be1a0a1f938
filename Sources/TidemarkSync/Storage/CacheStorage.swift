import TidemarkModel
import TidemarkStore

/// The cache that the engine uses now: whose it is, whether it can store, and its log.
///
/// Who reads or writes asks ``local``; how each transaction ended comes by here.
final class CacheStorage {
    private let context: EngineContext
    let opening: CacheOpening
    private var current: LocalStore
    /// The user who owns ``local``; nil before anybody signs in.
    private(set) var user: String?
    private var health = StorageHealth()
    private var isCurrentDamaged = false
    /// Whether the file of ``local`` is closed, until another cache is put in its place.
    private(set) var isClosed = false
    /// Of a cache that is damaged and set aside, while a new one could not be made yet.
    private var rescued: SavedQueue?
    /// In pages, when it was last seen to be long.
    private var lengthOfLog = 0
    private var observers: [UInt64: @Sendable (StorageState) -> Void] = [:]

    init(
        _ context: EngineContext, _ opening: CacheOpening, _ local: LocalStore, of user: String?
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
    /// Whether ``local`` is a copy, and its holder has stored something since.
    var isOutdated: Bool { current.isOutdated }
    /// Whether another cache has to take the place of ``local``.
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

    /// Every transaction that wrote, or failed, comes by here.
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

    /// Tells the present state at once, and then every change.
    func observe(_ id: UInt64, _ observer: @escaping @Sendable (StorageState) -> Void) {
        observers[id] = observer
        observer(health.state)
    }

    func removeObserver(_ id: UInt64) { observers[id] = nil }
    func removeObservers() { observers = [:] }

    // MARK: The log

    /// A burst is over when nothing was written for so long.
    private static let pauseBeforeLog = Duration.milliseconds(50)

    private func wantLogMoved() {
        guard context.gate.isRunning, !context.isScheduled(.logMoving), current.store.hasLongLog
        else { return }
        lengthOfLog = current.store.pagesInLog
        context.schedule(.logMoving, after: Self.pauseBeforeLog)
    }

    /// Moving the log waits for the disk, and what is written a moment later makes the next one: so not
    /// within a burst, and not within a write that somebody waits for, unless it has become very long.
    func moveLog() {
        guard current.store.hasLongLog else { return }
        guard current.store.pagesInLog == lengthOfLog else { return wantLogMoved() }
        current.store.moveLog()
    }

    // MARK: Another cache

    /// Writes what is to be written and lets go of the file, which another process may then open. What is in
    /// memory or a copy stays.
    func closeForNow() {
        guard case .file = files.location(of: user), !context.gate.isReadOnly, !isClosed else {
            return
        }
        current.outcome = { _ in }
        // Only newer tokens were to be written: without them the next listen reads a little more.
        do { try current.close() } catch {}
        isClosed = true
    }

    /// Puts another cache in the place of the present one, which hears of nothing more.
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
    }

    /// Where users share the cache: takes up another one's queue.
    ///
    /// - Parameter swapping: Called with the user before, once nothing can fail any more.
    /// - Returns: The documents with pending writes of either, as they look now.
    func takeUpQueue(
        of next: String?, swapping: (_ previous: String?) -> Void
    ) throws -> [LocalDocument] {
        let changed = try current.queue.changeUser(to: next)
        swapping(user)
        user = next
        return changed
    }

    /// What can be saved of a damaged cache, whose file is set aside; the same again until
    /// ``rescueIsOver()``.
    func rescue() throws -> SavedQueue {
        if let rescued { return rescued }
        let saved = try salvage()
        rescued = saved
        return saved
    }

    func rescueIsOver() { rescued = nil }

    private func salvage() throws -> SavedQueue {
        // As long as it is open, nobody else may look at the file.
        try? current.store.close()
        guard case .file(let path) = files.location(of: user) else { return SavedQueue() }
        let saved = try SavedQueue(salvaging: path, key: context.environment.storeKey)
        try DocumentStore.setAside(path)
        return saved
    }
}
