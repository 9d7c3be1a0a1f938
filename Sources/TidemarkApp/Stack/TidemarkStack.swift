import Synchronization
public import Tidemark

/// Creates and connects the parts of an app's data: files, identity, Firestore, feeds, jobs and a
/// launch.
///
/// The stack retries automatically when the network is back and when the device is unlocked: it
/// calls `Firestore.networkMayBeBack()` and ``AccountJobs/networkMayBeBack()``, and syncs failed
/// feeds. Use at most one stack at a time for a folder. Thread-safe.
public final class TidemarkStack: Sendable {
    public let settings: StackSettings
    public let files: LaunchFiles
    /// The source of the app's user.
    public let identity: any IdentityProvider
    /// The identity as this library's own accounts; nil if users sign in by another library.
    public let accounts: Accounts?
    public let firestore: Firestore
    public let jobs: AccountJobs

    /// The pauses between two attempts to sync the feeds. A signal ends a pause.
    static let feedPauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8)]

    private struct State {
        var feeds: [Feed] = []
        /// The user of the feeds; nil before any feeds were made.
        var user: UserID??
        var listening: Task<Void, Never>?
        var revocations: Task<Void, Never>?
        /// The waits that the next signal ends.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWait = 0
        weak var launch: Launch?
        var backfills: [WeakBackfill] = []
        /// The conditions by the last signals. Without signals, a backfill may run.
        var conditions = BackfillConditions()
        /// The cost of the network by the last signals.
        var cost = NetworkCost()
        /// True after the app entered the background, until it enters the foreground. Without
        /// signals, the app counts as being in the foreground.
        var isInBackground = false
    }

    private struct WeakBackfill { weak var backfill: Backfill? }

    private let state = Mutex(State())
    let path = StackPath()

    /// A function that the jobs of new stacks call at each step. A demo uses it to kill the app
    /// there.
    @TaskLocal package static var probe: JobProbe?

    /// Opens the data on this device, without a request to a server.
    ///
    /// - Throws: ``LaunchFiles/Failure``, ``CredentialStoreError`` or `FirestoreError` if the
    ///   folder cannot be read or written. Unreadable data do not count as missing.
    public init(_ settings: StackSettings) throws {
        self.settings = settings
        files = try LaunchFiles(folder: settings.folder + "/launch")
        let secrets =
            try settings.credentials
            ?? DefaultCredentials.store(folder: settings.folder + "/secrets")
        // Settings can serve a second stack after a first attempt has failed.
        let own = settings.firestore.copied()
        own.appCheckProvider = settings.appCheck ?? own.appCheckProvider
        switch settings.identity {
        case .accounts(let endpoint):
            let accounts = Accounts(
                HTTPAccountsTransport(endpoint, appCheck: own.appCheckProvider), store: secrets,
                installation: files.installation)
            (identity, self.accounts) = (accounts, accounts)
        case .provider(let provider): (identity, accounts) = (provider, provider as? Accounts)
        }
        own.cache = .directory(settings.folder + "/cache")
        own.user = files.lastUser?.text
        own.tokenProvider = own.tokenProvider ?? identity
        firestore = try Firestore(projectID: settings.projectID, settings: own)
        identity.attach(firestore)
        jobs = AccountJobs(
            identity, secrets: secrets, profiles: settings.profiles(firestore), files: files,
            observers: settings.observers, probe: Self.probe?.call)
        let signals = settings.signals.stream()
        let listening = Task { [weak self] in
            for await signal in signals { await self?.signal(signal) }
        }
        let apple = settings.appleCredentials
        let revocations = apple.map { [accounts] apple in
            Task { for await _ in apple.revocations { await accounts?.checkApple(apple) } }
        }
        state.withLock { state in
            state.listening = listening
            state.revocations = revocations
        }
    }

    deinit {
        state.withLock { state in
            state.listening?.cancel()
            state.revocations?.cancel()
        }
        path.set(isOnline: true)
    }

    /// Checks the Apple sign-in in a separate task, because the system can take long to answer.
    private func checkApple() {
        guard let apple = settings.appleCredentials, let accounts else { return }
        Task { await accounts.checkApple(apple) }
    }

    /// The feeds that were made last.
    public var feeds: [Feed] { state.withLock { $0.feeds } }

    /// Returns the feeds of a user. They are made once each time the user changes.
    ///
    /// - Throws: The error of ``StackSettings/feeds``.
    @discardableResult
    public func feeds(of user: UserID?) throws -> [Feed] {
        if let known = state.withLock({ $0.user == .some(user) ? $0.feeds : nil }) { return known }
        let made = try settings.feeds(firestore, user)
        observe(made)
        return state.withLock { state in
            // Another call has made the feeds in the meantime.
            if state.user == .some(user) { return state.feeds }
            (state.feeds, state.user) = (made, .some(user))
            return made
        }
    }

    private func observe(_ feeds: [Feed]) {
        for feed in feeds { for observer in settings.observers { feed.observe(observer) } }
    }

    /// Opens the user's feeds from disk, without a request to a server. Returns when the feeds show
    /// their rows; unread items below a window may still be counted. A feed that cannot be opened
    /// shows the reason.
    @discardableResult
    public func openFeeds(_ user: UserID?) async -> [Feed] {
        guard let feeds = try? feeds(of: user) else { return [] }
        await withTaskGroup(of: Void.self) { group in
            for feed in feeds { group.addTask { try? await feed.openWindow() } }
        }
        return feeds
    }

    // MARK: A launch

    /// Returns the parts of a launch, for a ``Launch`` or a ``LaunchModel``. Each part can be
    /// replaced.
    public func parts(_ stages: StackSettings.Stages) -> LaunchParts {
        var parts = LaunchParts(
            identity, jobs: jobs, files: files,
            showContent: { [self] user in
                let feeds = await openFeeds(user)
                await stages.showContent(user, feeds)
            },
            runFeeds: { [self] user, isLive in await runFeeds(user, isLive) },
            runBackground: stages.runBackground,
            beginSignUp: { [jobs] user, step in await stages.beginSignUp(jobs, user, step) })
        if settings.diagnosesLaunch { parts.diagnose = { [self] in await diagnose() } }
        return parts
    }

    /// Finds the reason why the server of the client cannot be reached.
    private func diagnose() async -> Verdict? {
        guard let target = DiagnosisTarget(of: firestore) else { return nil }
        var doctor = Doctor(target)
        doctor.tokens = firestore.settings.tokenProvider
        doctor.token = firestore.settings.token
        doctor.label = firestore.settings.label ?? doctor.label
        return try? await doctor.diagnose(after: .zero).verdict
    }

    /// Returns a launch of these parts. The stack reports to it when the device is unlocked.
    public func launch(_ stages: StackSettings.Stages) -> Launch {
        let settings = settings
        let launch = Launch(parts(stages), budgets: settings.budgets) { transition in
            settings.onTransition?(transition)
            let stage = LaunchMetrics.name(of: transition.from)
            for observer in settings.observers {
                observer.receive(.launchStage(stage, after: transition.time))
            }
        }
        follow(launch)
        return launch
    }

    /// Reports to a launch that was made elsewhere, for example ``LaunchModel/launch``: when the
    /// device is unlocked, and whether the system has a network.
    public func follow(_ launch: Launch) {
        let isOnline = state.withLock { state in
            state.launch = launch
            return state.conditions.isOnline
        }
        if !isOnline { launch.network(isAvailable: false) }
    }

    /// Reports the network and the device's power to a backfill, now and at each change. The stack
    /// does not retain the backfill. The backfill pauses while there is no network, while the
    /// network is expensive, and while the device saves power.
    public func follow(_ backfill: Backfill) async {
        state.withLock { state in
            state.backfills.removeAll { $0.backfill == nil }
            state.backfills.append(WeakBackfill(backfill: backfill))
        }
        await notify(backfill)
    }

    /// Reports the conditions until the reported ones are the current ones, because a signal can
    /// arrive in between.
    private func notify(_ backfill: Backfill) async {
        var told: BackfillConditions?
        while case let conditions = state.withLock(\.conditions), conditions != told {
            told = conditions
            await backfill.setOnline(conditions.isOnline)
            await backfill.setNetworkExpensive(conditions.isNetworkExpensive)
            await backfill.setLowPower(conditions.isLowPower)
        }
    }

    /// Syncs the user's feeds, and then listens until its task is cancelled.
    private func runFeeds(
        _ user: UserID, _ isLive: @escaping @Sendable (Bool) -> Void
    ) async {
        checkApple()
        var failures = 0
        var listening: [Feed] = []
        while !Task.isCancelled {
            if let feeds = try? feeds(of: user) {
                listening = feeds
                if await areLive(feeds) {
                    isLive(true)
                    await untilCancelled()
                    break
                }
            }
            isLive(false)
            await pause(Self.feedPauses[min(failures, Self.feedPauses.count - 1)])
            failures += 1
        }
        for feed in listening { await feed.stopListening() }
    }

    /// Starts the feeds' listeners.
    ///
    /// - Returns: True if all feeds are up to date, false if a feed's first answer was an error.
    private func areLive(_ feeds: [Feed]) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for feed in feeds {
                group.addTask {
                    // The feed's listener may have resumed without this call.
                    if case .fresh = await feed.state.phase, await feed.isListening { return true }
                    return (try? await feed.comeLive()) != nil
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    func areSynced(_ feeds: [Feed]) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            for feed in feeds { group.addTask { (try? await feed.sync()) != nil } }
            return await group.reduce(true) { $0 && $1 }
        }
    }

    private func untilCancelled() async {
        let (never, input) = AsyncStream.makeStream(of: Void.self)
        for await _ in never {}
        input.finish()
    }

    /// Waits until the time is over, a signal arrives, or the task is cancelled.
    private func pause(_ time: Duration) async {
        let number = state.withLock { state in
            state.lastWait += 1
            return state.lastWait
        }
        let timer = Task { [weak self] in
            try? await Task.sleep(for: time)
            self?.wake(number)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !Task.isCancelled { state.waiting[number] = continuation }
                    return Task.isCancelled
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            wake(number)
        }
        timer.cancel()
    }

    private func wake(_ number: Int) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }

    // MARK: Signals

    /// Continues the operations that wait for this signal. ``AppSignals/system`` calls this
    /// function; with other signals, the app calls it.
    public func signal(_ signal: AppSignal) async {
        let (backfills, launch) = state.withLock { state in
            state.cost.hear(signal)
            firestore.network.set(state.cost)
            state.conditions.hear(signal, state.cost)
            if signal == .wentBack { state.isInBackground = true }
            if signal == .cameForward { state.isInBackground = false }
            return (state.backfills.compactMap(\.backfill), state.launch)
        }
        if signal == .networkIsGone || signal == .networkIsBack {
            launch?.network(isAvailable: signal == .networkIsBack)
            path.set(isOnline: signal == .networkIsBack)
        }
        for backfill in backfills { await notify(backfill) }
        switch signal {
        case .networkIsGone, .networkIsExpensive, .networkSavesData, .powerIsLow: return
        case .wentBack:
            suspendInBackground(after: settings.suspendsAfter)
            return
        case .networkIsBack: firestore.networkMayBeBack()
        case .cameForward:
            checkApple()
            firestore.resume()
            firestore.networkMayBeBack()
        case .protectedDataIsReadable:
            firestore.networkMayBeBack()
            if identity.state == .locked { await identity.load() }
            launch?.unlocked()
        }
        await jobs.networkMayBeBack()
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Closes the cache's file if the settings ask for it and the app is still in the background.
    ///
    /// - Returns: The suspension, if there is one. The caller need not wait for it, although the
    ///   next signal can follow immediately.
    @discardableResult
    func suspendInBackground(after grace: Duration?) -> Task<Void, Never>? {
        guard let grace, settings.suspendsAfter != nil else { return nil }
        // The lock ensures that the pause begins before the app returns to the foreground, which
        // resumes the client, or does not begin.
        let pause = state.withLock { $0.isInBackground ? firestore.beginPause() : nil }
        return pause.map { pause in
            Task { [firestore] in await firestore.suspend(pause, after: grace) }
        }
    }

    /// Closes the client and stops all operations. Data on disk stays.
    public func close() async {
        let tasks = state.withLock { [$0.listening.take(), $0.revocations.take()] }
        for task in tasks { task?.cancel() }
        path.set(isOnline: true)
        await firestore.terminate()
    }
}

extension BackfillConditions {
    fileprivate mutating func hear(_ signal: AppSignal, _ cost: NetworkCost) {
        switch signal {
        case .networkIsBack: isOnline = true
        case .networkIsGone: isOnline = false
        case .networkIsExpensive, .networkSavesData:
            isNetworkExpensive = cost.isExpensive || cost.isConstrained
        case .powerIsLow(let isLow): isLowPower = isLow
        case .protectedDataIsReadable, .cameForward, .wentBack: break
        }
    }
}

extension NetworkCost {
    fileprivate mutating func hear(_ signal: AppSignal) {
        switch signal {
        case .networkIsExpensive(let isExpensive): self.isExpensive = isExpensive
        case .networkSavesData(let savesData): isConstrained = savesData
        default: break
        }
    }
}

/// A probe in a struct, because a task-local function crashes in a release build of Swift 6.3.1.
package struct JobProbe: Sendable {
    let call: AccountJobs.Probe

    package init(_ call: @escaping AccountJobs.Probe) { self.call = call }
}
