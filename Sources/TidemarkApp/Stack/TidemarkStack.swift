import Synchronization
public import Tidemark

/// The parts of an app's data, made and joined: files, accounts, Firestore, feeds, jobs and a launch.
///
/// It goes on by itself when the network is back (`Firestore.networkMayBeBack()`,
/// ``AccountJobs/networkMayBeBack()``, feeds that failed) and when the device can be read again. One at a
/// time a folder. Thread-safe.
public final class TidemarkStack: Sendable {
    public let settings: StackSettings
    public let files: LaunchFiles
    public let accounts: Accounts
    public let firestore: Firestore
    public let jobs: AccountJobs

    /// Between two attempts to bring feeds up to date; a signal ends the wait.
    static let feedPauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8)]

    private struct State {
        var feeds: [Feed] = []
        /// Whose the feeds are; nil before any were made.
        var user: UserID??
        var listening: Task<Void, Never>?
        var revocations: Task<Void, Never>?
        /// Called at the next signal.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWait = 0
        weak var launch: Launch?
        var backfills: [WeakBackfill] = []
        /// As the signals have said it; of a device that says nothing, all is well.
        var conditions = BackfillConditions()
        /// As the signals have said it; an app that says nothing is in front.
        var isInBackground = false
    }

    private struct WeakBackfill { weak var backfill: Backfill? }

    private let state = Mutex(State())

    /// Called at each step of a job, of stacks that are made while it is set: a demo kills the app there.
    @TaskLocal package static var probe: JobProbe?

    /// Opens what is on this device, and asks no server.
    ///
    /// - Throws: ``LaunchFiles/Failure``, ``CredentialStoreError`` or `FirestoreError` when the folder
    ///   cannot be read or written: nothing is taken for missing then.
    public init(_ settings: StackSettings) throws {
        self.settings = settings
        files = try LaunchFiles(folder: settings.folder + "/launch")
        accounts = Accounts(
            HTTPAccountsTransport(settings.accounts, appCheck: settings.appCheck),
            store: try settings.credentials
                ?? FileCredentialStore(folder: settings.folder + "/secrets"),
            installation: files.installation)
        let own = settings.firestore
        own.cache = .directory(settings.folder + "/cache")
        own.user = files.lastUser?.text
        own.tokenProvider = accounts
        own.appCheckProvider = settings.appCheck
        firestore = try Firestore(projectID: settings.projectID, settings: own)
        accounts.attach(firestore)
        jobs = AccountJobs(
            accounts, profiles: settings.profiles(firestore), files: files, probe: Self.probe?.call)
        let signals = settings.signals.stream()
        let listening = Task { [weak self] in
            for await signal in signals { await self?.signal(signal) }
        }
        let apple = settings.appleCredentials
        let revocations = apple.map { [accounts] apple in
            Task { for await _ in apple.revocations { await accounts.checkApple(apple) } }
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
    }

    /// Beside what else goes on: the system may take its time.
    private func checkApple() {
        guard let apple = settings.appleCredentials else { return }
        Task { [accounts] in await accounts.checkApple(apple) }
    }

    /// The feeds as they were made last, of the user whose they are.
    public var feeds: [Feed] { state.withLock { $0.feeds } }

    /// The feeds of a user, made once for each time that it becomes the user.
    ///
    /// - Throws: What ``StackSettings/feeds`` does.
    @discardableResult
    public func feeds(of user: UserID?) throws -> [Feed] {
        if let known = state.withLock({ $0.user == .some(user) ? $0.feeds : nil }) { return known }
        let made = try settings.feeds(firestore, user)
        return state.withLock { state in
            // Somebody else has been faster.
            if state.user == .some(user) { return state.feeds }
            (state.feeds, state.user) = (made, .some(user))
            return made
        }
    }

    /// Opens the user's feeds from disk. Asks no server. A feed that cannot be opened is left as it is,
    /// and shows why.
    @discardableResult
    public func openFeeds(_ user: UserID?) async -> [Feed] {
        guard let feeds = try? feeds(of: user) else { return [] }
        await withTaskGroup(of: Void.self) { group in
            for feed in feeds { group.addTask { _ = try? await feed.open() } }
        }
        return feeds
    }

    // MARK: A launch

    /// The parts of a launch, for a ``Launch`` or a ``LaunchModel``; each can be replaced.
    public func parts(_ stages: StackSettings.Stages) -> LaunchParts {
        LaunchParts(
            accounts, jobs, files,
            showContent: { [self] user in
                let feeds = await openFeeds(user)
                await stages.showContent(user, feeds)
            },
            runFeeds: { [self] user, isLive in await runFeeds(user, isLive) },
            runBackground: stages.runBackground,
            beginSignUp: { [jobs] user, step in await stages.beginSignUp(jobs, user, step) })
    }

    /// A launch of these parts. It hears of the device's unlocking through the stack.
    public func launch(_ stages: StackSettings.Stages) -> Launch {
        let launch = Launch(
            parts(stages), budgets: settings.budgets, onTransition: settings.onTransition)
        follow(launch)
        return launch
    }

    /// Tells a launch that was made elsewhere, as of a model, when the device is unlocked.
    public func follow(_ launch: Launch) { state.withLock { $0.launch = launch } }

    /// Tells a backfill of the network and of the device's power, now and at each change, for as long as
    /// somebody else keeps it: it waits while there is no network or one that costs, and while power is low.
    public func follow(_ backfill: Backfill) async {
        state.withLock { state in
            state.backfills.removeAll { $0.backfill == nil }
            state.backfills.append(WeakBackfill(backfill: backfill))
        }
        await tell(backfill)
    }

    /// Until what it was told is still so: a signal may come meanwhile.
    private func tell(_ backfill: Backfill) async {
        var told: BackfillConditions?
        while case let conditions = state.withLock(\.conditions), conditions != told {
            told = conditions
            await backfill.setOnline(conditions.isOnline)
            await backfill.setNetworkExpensive(conditions.isNetworkExpensive)
            await backfill.setLowPower(conditions.isLowPower)
        }
    }

    /// Brings the user's feeds up to date, and then listens, until its task is cancelled.
    private func runFeeds(
        _ user: UserID, _ isLive: @escaping @Sendable (Bool) -> Void
    ) async {
        checkApple()
        var failures = 0
        while !Task.isCancelled {
            if let feeds = try? feeds(of: user), await areSynced(feeds) {
                for feed in feeds { await feed.startListening() }
                isLive(true)
                await untilCancelled()
                for feed in feeds { await feed.stopListening() }
                return
            }
            isLive(false)
            await pause(Self.feedPauses[min(failures, Self.feedPauses.count - 1)])
            failures += 1
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

    /// Until the time is over, a signal comes, or the task is cancelled.
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

    /// Goes on with what waited for it. ``AppSignals/system`` calls it; elsewhere the app does.
    public func signal(_ signal: AppSignal) async {
        let backfills = state.withLock { state in
            state.conditions.hear(signal)
            if signal == .wentBack { state.isInBackground = true }
            if signal == .cameForward { state.isInBackground = false }
            return state.backfills.compactMap(\.backfill)
        }
        for backfill in backfills { await tell(backfill) }
        switch signal {
        case .networkIsGone, .networkIsExpensive, .powerIsLow: return
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
            if accounts.state == .locked { await accounts.load() }
            state.withLock { $0.launch }?.unlocked()
        }
        await jobs.networkMayBeBack()
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Lets go of the cache's file, in an app that said so, unless it is in front by now.
    ///
    /// - Returns: What is left to do; nobody waits for it where the next signal may follow at once.
    @discardableResult
    func suspendInBackground(after grace: Duration?) -> Task<Void, Never>? {
        guard let grace, settings.suspendsAfter != nil else { return nil }
        // Within the lock, so that it comes before the way to the front, which resumes, or not at all.
        let pause = state.withLock { $0.isInBackground ? firestore.beginPause() : nil }
        return pause.map { pause in
            Task { [firestore] in await firestore.suspend(pause, after: grace) }
        }
    }

    /// Ends the client and what is under way. What is on disk stays.
    public func close() async {
        let tasks = state.withLock { [$0.listening.take(), $0.revocations.take()] }
        for task in tasks { task?.cancel() }
        await firestore.terminate()
    }
}

extension BackfillConditions {
    fileprivate mutating func hear(_ signal: AppSignal) {
        switch signal {
        case .networkIsBack: isOnline = true
        case .networkIsGone: isOnline = false
        case .networkIsExpensive(let isExpensive): isNetworkExpensive = isExpensive
        case .powerIsLow(let isLow): isLowPower = isLow
        case .protectedDataIsReadable, .cameForward, .wentBack: break
        }
    }
}

/// A probe as a value of its own: a task-local that is a function crashes in a release build of Swift
/// 6.3.1.
package struct JobProbe: Sendable {
    let call: AccountJobs.Probe

    package init(_ call: @escaping AccountJobs.Probe) { self.call = call }
}
