import Synchronization
import TidemarkModel

/// Decides whether the engine runs, answers, stores and connects. Parts ask the gate before they
/// begin work. The gate only receives notifications and performs nothing.
final class EngineGate {
    private enum State: Equatable {
        case running, terminated
        /// The engine never ran, because the client could not be created.
        case refusing(SyncError)
    }

    private var state = State.running
    private var isNetworkOn = true
    /// True if data of the server could not be stored. Nothing more is accepted until it can be.
    private(set) var isStorageBroken = false
    private(set) var isChangingUser = false
    /// True if nothing may be done until the engine is resumed.
    private(set) var isSuspended = false
    /// The number of the last requested change of user.
    private(set) var session: UInt64 = 0
    private var fault: StorageFault?
    /// True if writes are left for another process that holds the cache.
    private let sharesWrites: Bool
    /// Atomic, because any thread may read it.
    private let isView: Atomic<Bool>

    init(isReadOnly: Bool, sharesWrites: Bool = false) {
        isView = Atomic(isReadOnly)
        self.sharesWrites = sharesWrites
    }

    // MARK: What may be done

    /// True if the cache is a copy of one that another process has open.
    var isReadOnly: Bool { isView.load(ordering: .relaxed) }
    var isRunning: Bool { state == .running }
    /// True if the engine runs and is not suspended.
    var isServing: Bool { isRunning && !isSuspended }
    var isTerminated: Bool { state == .terminated }
    var isNetworkEnabled: Bool { isNetworkOn && !isReadOnly }
    /// True if another user's cache may replace the present one. An engine that only views a cache
    /// never changes it.
    var mayChangeUser: Bool { isRunning && (!isReadOnly || sharesWrites) }
    /// True if batches may be prepared for the server.
    var maySend: Bool { isServing && !isStorageBroken && !isChangingUser }
    /// True if a stream may be opened.
    var mayConnect: Bool { isNetworkEnabled && maySend }

    /// The reason why the engine refuses every request now; nil if it does not.
    var refusal: SyncError? {
        switch state {
        case .running: break
        case .terminated: return .terminated
        case .refusing(let error): return error
        }
        if isSuspended { return .suspended }
        guard isChangingUser else { return nil }
        return fault.map(SyncError.storage) ?? .userChanged
    }

    /// The reason why the server is not asked; nil if it may be asked.
    var disconnection: RPCStatus? {
        if isReadOnly {
            return RPCStatus(
                .unavailable, "This client only reads a cache that another process has open.")
        }
        return isNetworkOn ? nil : RPCStatus(.unavailable, "The network is turned off.")
    }

    /// The reason why nothing can be stored now; nil if storing is possible.
    var writeRefusal: SyncError? { refusal ?? (isReadOnly ? .storage(.locked) : nil) }

    /// The reason why an app's writes are refused now; nil if they are accepted.
    var journalRefusal: SyncError? { sharesWrites ? refusal : writeRefusal }

    /// Converts the status of a call to the caller's error.
    ///
    /// - Parameter status: A status other than ok.
    func error(_ status: RPCStatus) -> SyncError {
        isTerminated ? .terminated : .server(status)
    }

    // MARK: What happens

    func terminate() { state = .terminated }
    func refuse(_ error: SyncError) { state = .refusing(error) }

    /// - Returns: True if the state changed.
    func setNetworkEnabled(_ enabled: Bool) -> Bool {
        guard isRunning, enabled != isNetworkOn else { return false }
        isNetworkOn = enabled
        return true
    }

    /// - Returns: True if the state changed.
    func suspend() -> Bool {
        guard isServing else { return false }
        isSuspended = true
        return true
    }

    /// - Returns: True if the state changed.
    func resume() -> Bool {
        guard isRunning, isSuspended else { return false }
        isSuspended = false
        return true
    }

    func cacheIs(readOnly: Bool) { isView.store(readOnly, ordering: .relaxed) }
    func storageBroke() { isStorageBroken = true }
    func storageWorks() { isStorageBroken = false }
    func storageIs(_ state: StorageState) {
        if case .failing(let fault) = state { self.fault = fault } else { fault = nil }
    }

    func userChangeBegan(_ session: UInt64) {
        self.session = session
        isChangingUser = true
    }

    /// Records that the present user's cache is being reopened. No request is served until it is
    /// open.
    func reopeningBegan() { isChangingUser = true }

    func userChangesEnded() { isChangingUser = false }
}
