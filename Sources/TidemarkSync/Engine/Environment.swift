public import TidemarkModel
package import TidemarkStore

/// Everything that the engine takes from outside. No code of the engine reads a clock, a socket or
/// a random number in another way.
public struct SyncEnvironment: Sendable {
    public var transport: any Transport
    public var scheduler: any EngineScheduler
    /// Returns the time on the device's wall clock, which can be wrong and can jump.
    public var now: @Sendable () -> Timestamp
    /// Returns a random number in `0 ..< 1`.
    public var random: @Sendable () -> Double
    /// Lets a test make the disk fail; nil for the real disk.
    package var storageFault: StorageFaultSource?
    /// The encryption of the cache; nil for none.
    public var cacheEncryption: CacheEncryption?
    var storeKey: StoreKeySource? { cacheEncryption?.key }

    /// Runs a long job that uses no state of an engine, possibly on another thread. By default,
    /// runs it immediately.
    public var offload: @Sendable (_ job: @escaping @Sendable () -> Void) -> Void = { $0() }

    /// The maximum number of documents or index entries that a read of the cache visits before
    /// other jobs run, sized for 3 ms. A test makes it small to interleave many jobs.
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

/// The serial executor of an engine, and its timers.
///
/// Implemented by a dispatch queue, and in tests by a virtual scheduler that runs jobs on request.
public protocol EngineScheduler: Sendable {
    /// Runs `job` after the jobs queued before, never inside the caller's call.
    func enqueue(_ job: @escaping @Sendable () -> Void)
    /// Runs `job` on the calling thread as the executor's next job, if no job is running or
    /// waiting. So jobs that the caller queued before have run. Never waits.
    ///
    /// - Returns: True if the job has run.
    func runIfIdle(_ job: () -> Void) -> Bool
    /// Runs `job` once, on the same executor, after `delay`.
    func schedule(
        _ id: TimerID, after delay: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall
    /// The time since a fixed point of the scheduler. Never decreases, whatever the wall clock
    /// does.
    var elapsed: Duration { get }
}

extension EngineScheduler {
    /// The default, for an executor that runs jobs only on its own thread.
    public func runIfIdle(_ job: () -> Void) -> Bool { false }
}

/// The name of a delayed job. A test uses it to run the job early.
public enum TimerID: String, Hashable, Sendable, CaseIterable {
    case onlineState, listenBackoff, writeBackoff, listenIdle, writeIdle, listenHealthy,
        writeHealthy
    case readDeadline, callRetry, meterSave, heldBack, storageRetry, indexBuilding,
        logMoving, garbageCollection, transactionRetry, feedRetry, cacheSharing
}
