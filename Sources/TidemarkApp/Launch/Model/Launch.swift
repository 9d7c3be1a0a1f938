import Synchronization

/// Performs the decisions of a ``LaunchMachine``: one event after the other, never on the main
/// thread.
public final class Launch: Sendable {
    /// A change of the state, for metrics.
    public struct Transition: Hashable, Sendable {
        public let from: LaunchMachine.State
        public let to: LaunchMachine.State
        /// The time in the state `from`.
        public let time: Duration
    }

    private enum Input {
        case event(LaunchEvent)
        /// The timer with this number fired; the number of a cancelled timer is ignored.
        case timer(Int)
    }

    private struct State {
        var machine: LaunchMachine
        var inputs: [Input] = []
        var isWorking = false
        var timer = 0
        var timerTask: Task<Void, Never>?
        var feeds: Task<Void, Never>?
        var background: Task<Void, Never>?
        var listeners: [Task<Void, Never>] = []
        var watchers: [Int: AsyncStream<LaunchMachine>.Continuation] = [:]
        var lastWatcher = 0
        var entered: Duration
        var isClosed = false
    }

    private let parts: LaunchParts
    private let sleep: @Sendable (Duration) async throws -> Void
    private let elapsed: @Sendable () -> Duration
    private let onTransition: (@Sendable (Transition) -> Void)?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - parts: The functions that the steps of the launch call.
    ///   - budgets: The waiting time of each state before the user sees a message.
    ///   - onTransition: A function for metrics and logs, called at every change of the state.
    public convenience init(
        _ parts: LaunchParts, budgets: LaunchMachine.Budgets = .init(),
        onTransition: (@Sendable (Transition) -> Void)? = nil
    ) {
        self.init(
            parts, budgets: budgets, clock: ContinuousClock(), onTransition: onTransition)
    }

    package init<C: Clock>(
        _ parts: LaunchParts, budgets: LaunchMachine.Budgets = .init(), clock: C,
        onTransition: (@Sendable (Transition) -> Void)? = nil
    ) where C.Duration == Duration {
        self.parts = parts
        self.onTransition = onTransition
        let start = clock.now
        sleep = { try await clock.sleep(for: $0) }
        elapsed = { start.duration(to: clock.now) }
        state = Mutex(State(machine: LaunchMachine(budgets: budgets), entered: .zero))
    }

    deinit { close() }

    public var machine: LaunchMachine { state.withLock { $0.machine } }

    /// The present machine and each later state of it. A slow reader skips to the newest.
    public var machines: AsyncStream<LaunchMachine> {
        let (machines, input) = AsyncStream.makeStream(
            of: LaunchMachine.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            state.lastWatcher += 1
            let number = state.lastWatcher
            state.watchers[number] = input
            // The removal runs in a separate task, as in `Watchers`: a step resumes readers within
            // the lock.
            input.onTermination = { [weak self] _ in Task { self?.unwatch(number) } }
            input.yield(state.machine)
        }
        return machines
    }

    private func unwatch(_ number: Int) {
        state.withLock { _ = $0.watchers.removeValue(forKey: number) }
    }

    /// Starts the launch. A second call has no effect.
    public func start() {
        let isFirst = state.withLock { $0.listeners.isEmpty && !$0.isClosed }
        if isFirst {
            let (changes, news) = (parts.changes, parts.news)
            let listeners = [
                Task { [weak self] in for await change in changes { self?.send(.changed(change)) }
                },
                Task { [weak self] in for await event in news { self?.send(.job(event)) } },
            ]
            state.withLock { $0.listeners = listeners }
        }
        send(.start)
    }

    /// Reports that the screen shows the first content.
    public func contentShown() { send(.contentShown) }

    /// Reports that the device was unlocked.
    public func unlocked() { send(.unlocked) }

    /// Reports that the system has a network, or that it has none. The message on the screen says
    /// that the user is offline only in the second case.
    public func network(isAvailable: Bool) { send(.network(isAvailable: isAvailable)) }

    public func perform(_ action: LaunchAction) { send(.person(action)) }

    /// Cancels all running parts.
    public func close() {
        let (tasks, watchers) = state.withLock { state in
            state.isClosed = true
            let tasks =
                state.listeners
                + [state.timerTask, state.feeds, state.background]
                .compactMap { $0 }
            defer { state.watchers = [:] }
            return (tasks, Array(state.watchers.values))
        }
        for task in tasks { task.cancel() }
        for watcher in watchers { watcher.finish() }
    }

    // MARK: One event after the other

    func send(_ event: LaunchEvent) { take(.event(event)) }

    private func take(_ input: Input) {
        let isIdle = state.withLock { state in
            if state.isClosed { return false }
            state.inputs.append(input)
            defer { state.isWorking = true }
            return !state.isWorking
        }
        guard isIdle else { return }
        while let (effects, transition) = next() {
            if let transition {
                LaunchMetrics.left(transition)
                onTransition?(transition)
            }
            for effect in effects { perform(effect) }
        }
    }

    private func next() -> ([LaunchEffect], Transition?)? {
        let now = elapsed()
        return state.withLock { state in
            guard !state.inputs.isEmpty, !state.isClosed else {
                state.isWorking = false
                return nil
            }
            let event: LaunchEvent
            switch state.inputs.removeFirst() {
            case .event(let told): event = told
            case .timer(let number):
                if number != state.timer { return ([], nil) }
                event = .timerFired
            }
            let before = state.machine
            let effects = state.machine.step(event)
            if state.machine != before {
                for watcher in state.watchers.values { watcher.yield(state.machine) }
            }
            guard state.machine.state != before.state else { return (effects, nil) }
            let transition = Transition(
                from: before.state, to: state.machine.state, time: now - state.entered)
            state.entered = now
            return (effects, transition)
        }
    }

    // MARK: Effects

    private func perform(_ effect: LaunchEffect) {
        switch effect {
        case .openLocalData:
            run { parts in
                do { return .localReady(try await parts.openLocal()) } catch { return .localFailed }
            }
        case .showContent(let user):
            run {
                await $0.showContent(user); return nil
            }
        case .readSession: run { .session(await $0.readSession()) }
        case .loadProfile(let user): run { .profile(await $0.loadProfile(user), of: user) }
        case .setLocalFlag(let user):
            run {
                await $0.setLocalFlag(user); return nil
            }
        case .beginSignUp(let user, let step):
            run {
                await $0.beginSignUp(user, step); return nil
            }
        case .resumeJob:
            run {
                await $0.resumeJob(); return nil
            }
        case .undoSignUp:
            run {
                await $0.undoSignUp(); return nil
            }
        case .keepStep(let step):
            let keep = parts.keepingFromNow?() ?? parts.keepStep
            run { _ in
                await keep(step); return nil
            }
        case .endSession:
            run {
                await $0.endSession(); return nil
            }
        case .openFeeds(let user): openFeeds(user)
        case .diagnose: run { await $0.diagnose().map { .diagnosis($0) } }
        case .closeFeeds: state.withLock { $0.feeds.take() }?.cancel()
        case .startBackground:
            let task = Task.detached(priority: .background) { [parts] in
                await parts.runBackground()
            }
            state.withLock { $0.background = task }
        case .startTimer(let time): startTimer(time)
        case .cancelTimer:
            state.withLock { state in
                state.timer += 1
                return state.timerTask.take()
            }?.cancel()
        }
    }

    private func run(_ work: @escaping @Sendable (LaunchParts) async -> LaunchEvent?) {
        Task.detached(priority: .userInitiated) { [parts, weak self] in
            if let event = await work(parts) { self?.send(event) }
        }
    }

    private func openFeeds(_ user: UserID) {
        let task = Task.detached(priority: .userInitiated) { [parts, weak self] in
            await parts.runFeeds(user) { [weak self] isLive in
                self?.send(isLive ? .feedsLive : .feedsLost)
            }
        }
        state.withLock { state in
            defer { state.feeds = task }
            return state.feeds
        }?.cancel()
    }

    private func startTimer(_ time: Duration) {
        let number = state.withLock { state in
            state.timer += 1
            return state.timer
        }
        let task = Task { [sleep, weak self] in
            do { try await sleep(time) } catch { return }
            self?.take(.timer(number))
        }
        state.withLock { $0.timerTask = task }
    }
}
