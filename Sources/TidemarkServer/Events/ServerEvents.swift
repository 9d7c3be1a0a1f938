import Synchronization
package import TidemarkModel
package import TidemarkStore

/// A server's document events: registers functions, and delivers the changes of documents to them.
///
/// The core decides; this value performs its deliveries and timers on the server's executor. All
/// copies of it are of the same server.
package struct ServerEvents: Sendable {
    /// The label of the program's own imports and exports. Their unbilled writes are no events.
    package static let importLabel = "tidemark"

    private let server: FirestoreServer

    package init(_ server: FirestoreServer) { self.server = server }

    /// Delivers the events of earlier processes and of all later commits.
    ///
    /// Until then, commits cause no events. Must be called at most once, after an import at the
    /// start and before callers commit.
    ///
    /// - Parameters:
    ///   - receiver: Calls the functions.
    ///   - triggers: The triggers with an address. Earlier ones with an address are removed. Those
    ///     that tools have registered stay.
    ///   - maxAttempts: The number of failures after which an event is set aside, at least 1.
    /// - Throws: ``StoreError`` if the triggers cannot be read or stored.
    package func start(
        _ receiver: any EventReceiver, triggers: [EventTrigger] = [], maxAttempts: Int = 5
    ) throws(StoreError) {
        precondition(maxAttempts >= 1)
        var policy = DeliveryPolicy()
        policy.maxAttempts = maxAttempts
        do {
            try server.core.withLock { core throws in
                try core.events.start(receiver, files: triggers, policy: policy)
            }
        } catch { throw error as? StoreError ?? .unreadable(detail: "\(error)") }
        wake()
    }

    /// Registers a function for the changes of documents from now on. A trigger of the same key
    /// and project is replaced, and its waiting events stay.
    ///
    /// - Throws: An error if there are too many triggers, if the server was not started with a
    ///   receiver, or if the store cannot be written.
    package func register(_ trigger: EventTrigger) throws(RPCStatus) {
        try change { events throws in try events.register(trigger) }
    }

    /// Removes a trigger and its waiting events.
    ///
    /// - Returns: False if there is no such trigger.
    package func remove(key: String, project: String) throws(RPCStatus) -> Bool {
        try change { events throws in try events.remove(key: key, project: project) }
    }

    /// Delivers an event again that was set aside, or that is among the last delivered ones.
    ///
    /// - Parameter id: The id that the function received.
    /// - Throws: `notFound`, or an error of the store.
    package func repeatEvent(_ id: String) throws(RPCStatus) {
        try change { events throws in try events.repeatEvent(id) }
    }

    package func report() -> EventReport { server.core.withLock { $0.events.report() } }

    /// Stops new deliveries. Deliveries under way continue.
    package func pause() { step(.paused) }

    package func resume() { step(.resumed) }

    /// Sets if later commits cause events. The server always delivers the events that wait.
    package func setRecording(_ isOn: Bool) {
        server.core.withLock { $0.events.isRecording = isOn }
    }

    private func change<T: Sendable>(
        _ body: @Sendable (DocumentEvents) throws -> T
    ) throws(RPCStatus) -> T {
        let result: T
        do { result = try server.core.withLock { core throws in try body(core.events) } } catch {
            throw RPCStatus(storeFailure: error)
        }
        wake()
        return result
    }

    // MARK: Idle

    package enum Wait: Hashable, Sendable {
        /// Every event of earlier commits was delivered or set aside.
        case idle
        /// Events wait, and deliveries are paused.
        case paused
        /// Events still wait at the end of the time.
        case late
    }

    /// Waits until no event waits. Events of commits that are answered before the call are
    /// included, and so are those that functions cause meanwhile.
    ///
    /// - Parameter limit: The longest time to wait.
    package func waitUntilIdle(within limit: Duration) async -> Wait {
        await withCheckedContinuation { done in
            waitUntilIdle(within: limit) { done.resume(returning: $0) }
        }
    }

    /// - Parameter done: Called once, on the server's executor.
    package func waitUntilIdle(
        within limit: Duration, done: @escaping @Sendable (Wait) -> Void
    ) {
        server.executor.async { [self] in
            let isPaused = server.core.withLock { $0.events.isPaused && $0.events.hasWork }
            if isPaused { return done(.paused) }
            let waiter = server.eventWaiters.add(done)
            take(.awaited(waiter))
            server.executor.after(limit) {
                guard let done = server.eventWaiters.remove(waiter) else { return }
                take(.abandoned(waiter))
                done(.late)
            }
        }
    }

    // MARK: Deliveries

    /// Passes an event to the core in a job of the executor.
    private func step(_ event: DeliveryMachine.Event) {
        server.executor.async { take(event) }
    }

    /// Performs what is due in a job of the executor.
    private func wake() {
        server.executor.async { perform(server.core.withLock { $0.events.takeOutward() }) }
    }

    private func take(_ event: DeliveryMachine.Event) {
        // The store is closed with the inbox.
        if server.inbox.withLock({ $0.isClosed }) { return }
        perform(
            server.core.withLock { core in
                core.events.step(event)
                return core.events.takeOutward()
            })
    }

    /// Performs the work that the core returns. Call it only on the executor.
    func perform(_ work: [DocumentEvents.Outward]) {
        if work.isEmpty { return }
        let receiver = server.core.withLock { $0.events.receiver }
        for item in work {
            switch item {
            case .deliver(let number, let event):
                receiver?.deliver(event) { step(.answered(number, $0)) }
            case .startTimer(let number, let pause):
                server.executor.after(pause) { take(.timer(number)) }
            case .idle(let waiters):
                for waiter in waiters { server.eventWaiters.remove(waiter)?(.idle) }
            }
        }
    }
}

/// The callers that wait until no event waits.
final class EventWaiters: Sendable {
    private struct State {
        var waiters: [Int: @Sendable (ServerEvents.Wait) -> Void] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    /// - Returns: The number of the waiter.
    func add(_ done: @escaping @Sendable (ServerEvents.Wait) -> Void) -> Int {
        state.withLock { state in
            state.last += 1
            state.waiters[state.last] = done
            return state.last
        }
    }

    /// - Returns: The waiter; nil if it was removed before.
    func remove(_ number: Int) -> (@Sendable (ServerEvents.Wait) -> Void)? {
        state.withLock { $0.waiters.removeValue(forKey: number) }
    }
}
