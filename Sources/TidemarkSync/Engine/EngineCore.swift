import TidemarkModel
import TidemarkResilience
import TidemarkStore

/// The engine: owns the machines and performs their effects. Nothing in it suspends.
///
/// Unchecked because the compiler cannot see what confines it: after `init` every access is a job
/// on the environment's scheduler, which runs one at a time.
final class EngineCore: @unchecked Sendable {
    let configuration: SyncEngine.Configuration
    let environment: SyncEnvironment
    var local: LocalStore
    let files: CacheFiles
    /// Whose cache and queue ``local`` is; nil for nobody's in particular.
    var user: String?
    /// Of the changes of the user, the number of the last one that was asked for.
    var session: UInt64 = 0
    /// What was asked for and could not be done yet; while there is any, nothing else is done.
    var userChanges: [UserChange] = []
    var parkedUsers: [UserKey: ParkedUser] = [:]
    var state = State.running
    var networkEnabled: Bool
    /// Whether ``local`` is a copy of a cache that somebody else has open.
    let isReadOnly: Bool
    /// One of each kind at most.
    private var timers: [(id: TimerID, call: any CancellableCall)] = []

    // Listening.
    var online = OnlineState()
    var listenStream = ListenStream()
    var listenCall: (any RequestStream<ListenRequest>)?
    /// Counts the streams, so that a late event of an old one is known as such.
    var listenGeneration = 0
    var aggregator: WatchAggregator
    /// What is to be listened to, by target id, those in limbo too.
    var remoteTargets: [Int32: RemoteTarget] = [:]
    /// The next one to use; never used twice, not even on another stream.
    var nextWireID: Int32 = 1
    var queries: [QueryKey: ListenedQuery] = [:]
    /// The queries that share a target: those with a limit to the last rows are flipped.
    var queriesByTarget: [Int32: [QueryKey]] = [:]
    /// Those who keep documents in memory, and have to know which look different.
    var followers: [UInt64: CacheChanges] = [:]
    /// Queries that somebody listens to, and whose first rows are still being looked for.
    var openings: [QueryKey: Opening] = [:]
    /// Reads of the cache that take more than one step.
    var slicedReads: [UInt64: RunningRead] = [:]
    var nextSlicedRead: UInt64 = 0
    var limbo: LimboResolution
    /// What the server said could not be stored: nothing more is taken in until it can.
    var storageIsBroken = false
    /// Of a cache that is damaged and set aside, while a new one could not be made yet.
    var rescued: SavedQueue?
    var localIsDamaged = false
    /// In pages, when it was last seen to be long.
    var lengthOfLog = 0
    var storageHealth = StorageHealth()
    var storageObservers: [UInt64: @Sendable (StorageState) -> Void] = [:]
    /// The server's word on the batch at the head of the queue, to be stored before anything else:
    /// sending the batch again would apply it twice.
    var unstoredOutcome: WriteOutcome?

    /// While the cache is being made smaller.
    var collection: GarbageCollection?
    /// Told when all listeners have seen the same changes.
    var syncObservers: [UInt64: @Sendable () -> Void] = [:]
    var willTellInSync = false

    // Writing.
    var writeStream: WriteStream
    var writeCall: (any RequestStream<WriteRequest>)?
    var writeGeneration = 0
    /// Sent, or to be sent once the stream is ready; the first is answered first.
    var pipeline: [MutationBatch] = []
    /// One of several batches under way was refused. Which one shows when each is sent alone.
    var writesSingly = false
    /// The head of the queue, when the server has failed on it.
    var stubborn: StubbornBatch?
    var queueObservers: [UInt64: @Sendable (WriteQueueState) -> Void] = [:]
    var willTellQueue = false
    var writeObservers: [Int64: @Sendable (SyncEngine.WriteEvent) -> Void] = [:]
    var pendingWriteWaiters: [(batch: Int64, completion: @Sendable (SyncError?) -> Void)] = []

    // Single calls.
    var nextCallID: UInt64 = 0
    var calls: [UInt64: SingleCall] = [:]
    /// When the oldest call began that has had no answer, while no call has had one since.
    var silentSince: Duration?
    var reads: [UInt64: WaitingRead] = [:]
    /// The scheduler's time before which a read does not try the server again while it is offline.
    var nextProbe = Duration.zero
    var probeBackoff = StreamBackoff()
    /// How many of the calls may be tried again.
    var credits = RetryCredits()

    // What it costs.
    var listenBilling = ListenBilling()
    var listenEndings = ListenEndings()
    /// Whether the listen stream that is open has said anything.
    var listenWasHeard = false
    /// The newest time that the server told, and when that was by the scheduler.
    var lastServerTime: (time: Timestamp, elapsed: Duration)?
    var budgets: BudgetGate
    var readObservers: [UInt64: @Sendable (ReadEvent) -> Void] = [:]
    /// Targets that are not listened to for now, though somebody wants them.
    var heldBack: [Int32: HeldBack] = [:]
    /// By target: asking for its whole result again, and for its documents in limbo.
    var breakers: [Int32: TargetBreakers] = [:]
    /// Since the start.
    var stormCount = 0

    #if TIDEMARK_DEFECTS
        /// For a planted defect only.
        var removedWireIDs: [Int32: Int32] = [:]
    #endif

    enum State: Equatable {
        case running, terminated
        /// It never ran: the client could not be made.
        case refusing(SyncError)
    }

    init(_ configuration: SyncEngine.Configuration, _ environment: SyncEnvironment) throws {
        self.configuration = configuration
        self.environment = environment
        aggregator = WatchAggregator(database: configuration.database)
        limbo = LimboResolution(limit: configuration.maxLimboResolutions)
        budgets = BudgetGate(configuration.readBudgets)
        if let fault = CacheFiles.fault(of: configuration.user) { throw fault }
        user = configuration.user
        files = CacheFiles(
            base: configuration.cacheFile, isShared: configuration.sharesCacheBetweenUsers)
        (local, isReadOnly) = try LocalStore.opening(
            files.location(of: user), database: configuration.database, user: user,
            viewsBusy: configuration.viewsBusyCache, fault: environment.storageFault)
        networkEnabled = !isReadOnly
        writeStream = WriteStream(position: local.queue.writePosition)
        #if TIDEMARK_DEFECTS
            local.defects = environment.defects
            if environment.defects.contains(.sentTwiceAfterRestart) { writeStream = WriteStream() }
        #endif
        local.outcome = { [unowned self] in localTransactionEnded($0) }
        local.elapsed = { [scheduler = environment.scheduler] in scheduler.elapsed }
    }

    /// An engine that is let go without an end leaves nothing open.
    deinit {
        cancelAllTimers()
        listenCall?.cancel()
        writeCall?.cancel()
        for call in calls.values { call.handle?.cancel() }
    }

    var database: DatabaseID { configuration.database }

    func context(timeout: Duration? = nil) -> CallContext {
        CallContext(
            database: database, label: configuration.label, timeout: timeout,
            token: configuration.token)
    }

    func start() {
        fillPipeline()
        wantIndexes()
        scheduleCollection(after: Self.firstCollection)
        scheduleSweep()
    }

    // MARK: Timers

    func schedule(_ id: TimerID, after delay: Duration) {
        cancelTimer(id)
        let call = environment.scheduler.schedule(id, after: delay) { [weak self] in
            self?.fire(id)
        }
        timers.append((id, call))
    }

    func cancelTimer(_ id: TimerID) { forgetTimer(id)?.cancel() }

    @discardableResult
    private func forgetTimer(_ id: TimerID) -> (any CancellableCall)? {
        timers.firstIndex { $0.id == id }.map { timers.remove(at: $0).call }
    }

    func cancelAllTimers() {
        for timer in timers { timer.call.cancel() }
        timers = []
    }

    private func fire(_ id: TimerID) {
        guard state == .running else { return }
        forgetTimer(id)
        switch id {
        case .onlineState: perform(online.step(.timerFired))
        case .listenBackoff: performListen(.backoffElapsed)
        case .listenIdle: performListen(.idleElapsed)
        case .listenHealthy: performListen(.healthyElapsed)
        case .writeBackoff: performWrite(.backoffElapsed)
        case .writeIdle: performWrite(.idleElapsed)
        case .writeHealthy: performWrite(.healthyElapsed)
        case .storageRetry: retryStorage()
        case .indexBuilding: buildIndexes()
        case .logMoving: moveLog()
        case .garbageCollection: collectGarbage()
        case .meterSave: saveReads()
        case .heldBack: releaseHeldBack()
        case .readDeadline, .callRetry, .transactionRetry, .feedRetry: break
        }
    }

    func isScheduled(_ id: TimerID) -> Bool { timers.contains { $0.id == id } }

    // MARK: Online state

    func perform(_ effects: [OnlineState.Effect]) {
        for effect in effects {
            switch effect {
            case .schedule(let delay): schedule(.onlineState, after: delay)
            case .cancelTimer: cancelTimer(.onlineState)
            case .changed(let state): onlineStateChanged(to: state)
            }
        }
    }

    private func onlineStateChanged(to state: OnlineState.State) {
        for key in orderedQueries {
            if state == .offline { stepView(key, .wentOffline) }
            for id in queries[key]?.listenerIDs ?? [] {
                tell(id, of: key, .online(state))
            }
        }
    }

    /// Whether a stream may be opened.
    var mayConnect: Bool {
        networkEnabled && state == .running && !storageIsBroken && userChanges.isEmpty
    }

    func startStreams() {
        startListenStreamIfNeeded()
        fillPipeline()
    }

    func stopStreams() {
        performListen(.stop)
        performWrite(.stop)
        pipeline = []
    }
}

/// A target as the listen stream knows it.
struct RemoteTarget: Equatable, Sendable {
    let id: Int32
    let kind: ListenTarget.Kind
    var purpose: ListenPurpose
    /// The newest, in memory.
    var resumeToken: [UInt8] = []
    /// Where there is no token: as of when the rows here are the whole result.
    var readTime: Timestamp?
    /// Of its listen on the stream that is open.
    var wireID: Int32?
    /// Whom it is counted for.
    var tag: ReadTag
    /// Of the listen that is open, when that has another one than the target.
    var openingPurpose: ListenPurpose?
}

extension SyncError {
    /// Whatever the store threw.
    init(storing error: any Error) {
        switch error {
        case let error as SyncError: self = error
        default: self = .storage(StorageFault(error) ?? .defect(detail: "\(error)"))
        }
    }
}
