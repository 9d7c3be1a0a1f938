public import TidemarkModel
package import TidemarkStore

/// Everything the engine may not decide for itself. Below here nothing reads a clock, a socket or a
/// die.
public struct SyncEnvironment: Sendable {
    public var transport: any Transport
    public var scheduler: any EngineScheduler
    /// The device's wall clock, which may be wrong and may jump.
    public var now: @Sendable () -> Timestamp
    /// In `0 ..< 1`.
    public var random: @Sendable () -> Double
    /// Lets a test make the disk fail; nil for the disk as it is.
    package var storageFault: StorageFaultSource?
    /// How the cache is encrypted; nil for one that is not.
    public var cacheEncryption: CacheEncryption?
    var storeKey: StoreKeySource? { cacheEncryption?.key }

    /// Runs what takes long and touches nothing of an engine on another thread; where nothing is said, at
    /// once.
    public var offload: @Sendable (_ job: @escaping @Sendable () -> Void) -> Void = { $0() }

    /// How many documents or index entries a read of the cache looks at before others have their turn, at
    /// most: what 3 ms are for. A test makes it small, to have much happen meanwhile.
    package var rowsOfSlice = 4_000

    #if TIDEMARK_DEFECTS
        package var defects: PlantedDefects = []
    #endif

    package typealias StorageFaultSource = @Sendable (StorageStep) -> StoreError?

    public init(
        transport: any Transport, scheduler: any EngineScheduler,
        now: @escaping @Sendable () -> Timestamp, random: @escaping @Sendable () -> Double
    ) {
        self.transport = transport
        self.scheduler = scheduler
        self.now = now
        self.random = random
    }
}

/// The one serial executor on which an engine lives, and its timers.
///
/// Conformers: a dispatch queue, and a virtual one in tests that runs jobs when it is told to.
public protocol EngineScheduler: Sendable {
    /// Runs `job` after those queued before it, never inside the caller's call.
    func enqueue(_ job: @escaping @Sendable () -> Void)
    /// Runs `job` on the calling thread, as the executor's next one, where no job runs and none waits:
    /// so those that the caller enqueued before have run. Never waits.
    ///
    /// - Returns: Whether it has run.
    func runIfIdle(_ job: () -> Void) -> Bool
    /// Runs `job` once, on the same executor, after `delay`.
    func schedule(
        _ id: TimerID, after delay: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall
    /// Time since a fixed point of the scheduler's own. Never goes back, whatever the wall clock
    /// does.
    var elapsed: Duration { get }
}

extension EngineScheduler {
    /// For an executor that runs jobs on no thread but its own.
    public func runIfIdle(_ job: () -> Void) -> Bool { false }
}

/// Names a delayed job, so that a test can run it early.
public enum TimerID: String, Hashable, Sendable, CaseIterable {
    case onlineState, listenBackoff, writeBackoff, listenIdle, writeIdle, listenHealthy,
        writeHealthy
    case readDeadline, callRetry, meterSave, heldBack, storageRetry, indexBuilding,
        logMoving, garbageCollection, transactionRetry, feedRetry, cacheSharing
}
