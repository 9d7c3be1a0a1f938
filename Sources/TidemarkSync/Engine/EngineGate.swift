import Synchronization
import TidemarkModel

/// Whether the engine runs, answers, stores and connects: what a part asks before it begins something.
/// It decides alone and is told of what happens; it performs nothing.
final class EngineGate {
    private enum State: Equatable {
        case running, terminated
        /// It never ran: the client could not be made.
        case refusing(SyncError)
    }

    private var state = State.running
    private var isNetworkOn = true
    /// What the server said could not be stored: nothing more is taken in until it can.
    private(set) var isStorageBroken = false
    private(set) var isChangingUser = false
    /// Whether nothing is to be done until it is resumed.
    private(set) var isSuspended = false
    /// Of the changes of the user, the number of the last one that was asked for.
    private(set) var session: UInt64 = 0
    private var fault: StorageFault?
    /// Whether writes are left for the process that holds the cache, when it is another one.
    private let sharesWrites: Bool
    /// Any thread may ask.
    private let isView: Atomic<Bool>

    init(isReadOnly: Bool, sharesWrites: Bool = false) {
        isView = Atomic(isReadOnly)
        self.sharesWrites = sharesWrites
    }

    // MARK: What may be done

    /// Whether the cache is a copy of one that somebody else has open.
    var isReadOnly: Bool { isView.load(ordering: .relaxed) }
    var isRunning: Bool { state == .running }
    /// Whether it runs and is not suspended.
    var isServing: Bool { isRunning && !isSuspended }
    var isTerminated: Bool { state == .terminated }
    var isNetworkEnabled: Bool { isNetworkOn && !isReadOnly }
    /// Whether another user's cache may take the present one's place: one that only views a cache shows that
    /// one alone.
    var mayChangeUser: Bool { isRunning && (!isReadOnly || sharesWrites) }
    /// Whether batches may be prepared for the server.
    var maySend: Bool { isServing && !isStorageBroken && !isChangingUser }
    /// Whether a stream may be opened.
    var mayConnect: Bool { isNetworkEnabled && maySend }

    /// Why nothing can be asked of the engine now; nil when it can.
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

    /// Why the server is not asked; nil where it may be.
    var disconnection: RPCStatus? {
        if isReadOnly {
            return RPCStatus(
                .unavailable, "This client only reads a cache that another one has open.")
        }
        return isNetworkOn ? nil : RPCStatus(.unavailable, "The network is turned off.")
    }

    /// Why nothing can be stored now; nil when it can.
    var writeRefusal: SyncError? { refusal ?? (isReadOnly ? .storage(.locked) : nil) }

    /// Why an app's writes cannot be taken now; nil when they can.
    var journalRefusal: SyncError? { sharesWrites ? refusal : writeRefusal }

    /// What a call's end means for its caller.
    ///
    /// - Parameter status: Not ok.
    func error(_ status: RPCStatus) -> SyncError {
        isTerminated ? .terminated : .server(status)
    }

    // MARK: What happens

    func terminate() { state = .terminated }
    func refuse(_ error: SyncError) { state = .refusing(error) }

    /// - Returns: Whether that is news.
    func setNetworkEnabled(_ enabled: Bool) -> Bool {
        guard isRunning, enabled != isNetworkOn else { return false }
        isNetworkOn = enabled
        return true
    }

    /// - Returns: Whether that is news.
    func suspend() -> Bool {
        guard isServing else { return false }
        isSuspended = true
        return true
    }

    /// - Returns: Whether that is news.
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

    /// The present user's cache is opened again: until then nobody is served.
    func reopeningBegan() { isChangingUser = true }

    func userChangesEnded() { isChangingUser = false }
}
