import TidemarkModel
import TidemarkStore

/// Lets the engine's process share its cache with other processes (``SharingMachine``): holds or
/// views the cache, and switches between the two.
// @unchecked: used on the engine's executor only, like the engine.
final class CacheSharing: @unchecked Sendable {
    private let context: EngineContext
    private let storage: CacheStorage
    private let slices: SlicedReads
    private let listeners: Listeners
    private let exchange: CacheExchange
    private let writing: WriteDelivery
    /// Nil if no other process uses the cache.
    private var machine: SharingMachine?
    /// A copy that waits until all reads of the previous copy end.
    private var arrived: ViewedCache?
    /// The number of openings. A slow copy of an earlier cache has another number.
    private var opening = 0

    init(
        _ context: EngineContext, storage: CacheStorage, slices: SlicedReads,
        listeners: Listeners, exchange: CacheExchange, writing: WriteDelivery
    ) {
        self.context = context
        self.storage = storage
        self.slices = slices
        self.listeners = listeners
        self.exchange = exchange
        self.writing = writing
        if case .share(let role) = context.configuration.busyCache,
            context.configuration.cacheFile != nil
        {
            machine = SharingMachine(role)
        }
    }

    private var inbox: StoreInbox? { storage.opening.inbox(of: storage.user) }

    // MARK: What happens

    /// Handles the opening of a cache, or its replacement by another one.
    func opened() {
        opening += 1
        arrived = nil
        guard machine != nil else { return }
        if !context.gate.isReadOnly { inbox?.endRequest() }
        step(.opened(isView: context.gate.isReadOnly))
    }

    /// Stops all looks until a cache is opened again.
    func paused() {
        opening += 1
        arrived = nil
        step(.paused)
    }

    /// Looks at the inbox or at the copy; called when the time for it has come.
    func look() {
        guard context.gate.isServing, machine != nil else { return }
        // Running work must end first, for example a change of the user or a failing disk.
        guard context.gate.maySend, !storage.isClosed else {
            return context.schedule(.cacheSharing, after: SharingMachine.pauseOfViewer)
        }
        guard context.gate.isReadOnly else {
            let contents = inbox?.contents() ?? StoreInbox.Contents()
            let mayHandOver = !writing.hasUnstored && !storage.isDamaged
            return step(
                .looked(
                    .inbox(
                        hasWrites: !contents.names.isEmpty,
                        isWanted: contents.isWanted && mayHandOver)))
        }
        if let arrived, slices.isEmpty { show(arrived) }
        step(.looked(.copy(isOutdated: arrived == nil && storage.isOutdated)))
    }

    private func step(_ event: SharingMachine.Event) {
        guard let effects = machine?.step(event, at: context.elapsed) else { return }
        for effect in effects { perform(effect) }
    }

    private func perform(_ effect: SharingMachine.Effect) {
        switch effect {
        case .look(let pause): context.schedule(.cacheSharing, after: pause)
        case .takeWrites:
            if let inbox { step(.took(all: writing.takeShared(from: inbox))) }
        case .tryToHold: tryToHold()
        case .askForCache:
            // If the request fails, the cache becomes available when the holder ends.
            try? inbox?.ask()
        case .copy: copy()
        case .handOver: context.notify(.cacheWanted)
        }
    }

    // MARK: Holding

    private func tryToHold() {
        // A running read of the copy is valid only for the copy.
        guard slices.isEmpty || listeners.hasOpenings else { return }
        let new: LocalStore
        do { new = try storage.opening.hold(storage.user) } catch {
            guard case .locked? = StorageFault(error) else { return }
            return step(.isHeld)
        }
        listeners.pauseOpenings()
        guard slices.isEmpty, let reopened = try? new.targets.reopen(exchange.queries) else {
            try? new.close()
            return listeners.restartOpenings()
        }
        arrived = nil
        opening += 1
        context.gate.cacheIs(readOnly: false)
        exchange.put(new, of: storage.user, reopened)
        writing.settle()
        inbox?.endRequest()
        context.notify(.cacheTaken)
    }

    /// Continues as the holder, after the engine has begun to use the cache.
    func tookOver() { step(.tookOver) }

    /// Releases the cache, which no work uses now, and views it.
    ///
    /// - Returns: True if the cache is a view now. Otherwise its file is closed.
    func handOver() -> Bool {
        // The copy is made while no other process can write to the file.
        let view = try? storage.opening.view(storage.user)
        storage.closeForNow()
        inbox?.endRequest()
        guard let view, let reopened = try? view.targets.reopen(exchange.queries) else {
            return false
        }
        context.gate.cacheIs(readOnly: true)
        exchange.put(view, of: storage.user, reopened)
        listeners.restartOpenings()
        step(.handedOver)
        return true
    }

    // MARK: Viewing

    /// Makes a copy on another thread, because the time grows with the size of the cache.
    private func copy() {
        guard context.gate.isReadOnly else { return }
        let (source, user, number, began) = (
            storage.opening, storage.user, opening, context.elapsed
        )
        context.environment.offload { [weak context] in
            let copy = try? source.copy(of: user)
            context?.receive(.copied(copy, number: number, since: began))
        }
    }

    func copied(_ copy: ViewedCache?, _ number: Int, since began: Duration) {
        guard number == opening, context.gate.isServing else { return }
        arrived = copy
        step(.copied(took: context.elapsed - began))
        if let copy, slices.isEmpty, context.gate.maySend { show(copy) }
    }

    /// Replaces the shown copy by a newer one.
    private func show(_ copy: ViewedCache) {
        arrived = nil
        guard
            let view = try? storage.opening.view(copy, storage.user, own: writing.leftWrites)
        else { return }
        listeners.pauseOpenings()
        defer { listeners.restartOpenings() }
        guard let reopened = try? view.targets.reopen(exchange.queries) else {
            return view.abandon()
        }
        let old = storage.local
        exchange.put(view, of: storage.user, reopened)
        old.abandon()
        writing.settle()
    }
}
