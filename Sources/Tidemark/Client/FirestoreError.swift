public import Foundation
public import TidemarkWords

/// The domain of every ``FirestoreError`` as an `NSError`.
public let FirestoreErrorDomain = "FIRFirestoreErrorDomain"

/// The kind of an error, with gRPC's numbers and FirebaseFirestore's names.
public enum FirestoreErrorCode: Int, Hashable, Sendable, CaseIterable {
    case OK = 0
    case cancelled, unknown, invalidArgument, deadlineExceeded, notFound, alreadyExists
    case permissionDenied, resourceExhausted, failedPrecondition, aborted, outOfRange
    case unimplemented, `internal`, unavailable, dataLoss, unauthenticated

    /// The name under which Apple's systems import the numbers.
    public typealias Code = FirestoreErrorCode
}

/// The reason why a call failed. Decide by ``code`` or ``recovery``, show ``message`` to the user,
/// and log ``detail``.
public struct FirestoreError: Error, Hashable, Sendable {
    /// The next step that can help a caller.
    public enum Recovery: Hashable, Sendable {
        /// Wait for a network. Written data is kept and will be sent.
        case waitForNetwork
        /// The same call can succeed later.
        case retry
        case signIn
        /// The user is not allowed to do this.
        case askForPermission
        /// The call was wrong, which is a bug in the caller.
        case correctTheCall
        /// The document was changed or deleted in the meantime: read it again and decide.
        case readAgain
        /// This device cannot store data: create the cache again.
        case repairStorage
        /// This device has no free space.
        case freeSpace
        /// Another client, in this or another process, has the cache open: close that client.
        case closeOtherClient
        /// The device is locked: wait until it is unlocked. Do not delete the cache.
        case waitForUnlock
        /// The cache has another key than the settings, or only one of the two is encrypted: open
        /// it with the right key, or change its key. Do not delete the cache.
        case giveOtherKey
        /// A newer version of the library wrote the cache.
        case updateApp
        /// Today's budget of reads is used up: wait until tomorrow, or set a larger budget.
        case waitForBudget
        /// No step is needed: the caller cancelled the call.
        case none
    }

    public let code: FirestoreErrorCode
    /// The text for the log. It names fields, paths and limits.
    public let detail: String
    /// The reason why the cache failed; nil for other errors.
    public let storageFault: StorageFault?
    /// The budget that is used up; nil for other errors.
    public let readBudget: ReadBudget?
    /// The attempts before the call failed, oldest first; empty for a call that is not retried.
    /// Errors are compared without them.
    public var attempts: [CallAttempt] { history.attempts }
    private let history: AttemptHistory

    public init(_ code: FirestoreErrorCode, _ detail: String) {
        self.init(code, detail: detail, storageFault: nil)
    }

    private init(
        _ code: FirestoreErrorCode, detail: String, storageFault: StorageFault?,
        readBudget: ReadBudget? = nil, history: AttemptHistory = AttemptHistory()
    ) {
        precondition(code != .OK, "success is no error")
        self.code = code
        self.detail = detail
        self.storageFault = storageFault
        self.readBudget = readBudget
        self.history = history
    }

    public static func invalidArgument(_ detail: String) -> FirestoreError {
        FirestoreError(.invalidArgument, detail)
    }

    static let cancelled = FirestoreError(.cancelled, "The task was cancelled.")
    static let terminated = FirestoreError(.failedPrecondition, "This client has been terminated.")
}

extension FirestoreError {
    public init(_ error: SyncError) {
        switch error {
        case .server(let status): self.init(status)
        case .storage(let fault):
            self.init(.unavailable, detail: "The cache failed: \(fault)", storageFault: fault)
        case .invalidArgument(let message): self.init(.invalidArgument, message)
        case .notInCache(let reason):
            self.init(.unavailable, "Not in the cache\(Self.words(reason)).")
        case .queueFull(let limit):
            self.init(
                .resourceExhausted,
                """
                The queue is full: \(limit) writes are waiting for the server.
                """)
        case .terminated: self = .terminated
        case .suspended:
            self.init(.failedPrecondition, "This client is suspended: call resume() first.")
        case .userChanged: self.init(.cancelled, "The user changed before the call was finished.")
        case .overBudget(let budget):
            self.init(
                .resourceExhausted,
                detail:
                    "The budget of \(budget.readsPerDay) reads a day (\(budget.scope)) is used up.",
                storageFault: nil,
                readBudget: budget)
        }
    }

    /// Returns the reason why only the cache was asked, as the end of a sentence.
    private static func words(_ reason: StaleReason) -> String {
        switch reason {
        case .askedForCache: ", and nothing else was asked"
        case .offline: ", and the server cannot be reached"
        case .deadlinePassed: ", and the server did not answer in time"
        case .failed(let status): ", and the server failed: \(status.message)"
        case .overBudget(let budget):
            ", and the budget of \(budget.readsPerDay) reads a day is used up"
        case .readStorm:
            ", and requests to the server are paused, because their cost would have no limit"
        }
    }

    public init(_ status: RPCStatus) {
        // A failure with the code of success is an error of the server.
        let code = FirestoreErrorCode(rawValue: Int(status.code.rawValue)) ?? .unknown
        self.init(
            code == .OK ? .unknown : code, detail: status.message, storageFault: nil,
            readBudget: nil, history: status.attempts)
    }

    public init(_ invalid: InvalidPath) { self.init(.invalidArgument, invalid.message) }

    public var recovery: Recovery {
        if readBudget != nil { return .waitForBudget }
        switch storageFault {
        case .full: return .freeSpace
        case .locked: return .closeOtherClient
        case .deviceLocked, .keyUnavailable: return .waitForUnlock
        case .keyMissing, .wrongKey, .notEncrypted: return .giveOtherKey
        case .newerVersion: return .updateApp
        case .damaged, .unreadable, .defect, .olderEncryption: return .repairStorage
        case nil: break
        }
        return switch code {
        case .OK, .cancelled: .none
        case .unavailable, .deadlineExceeded: .waitForNetwork
        case .unknown, .internal, .resourceExhausted, .dataLoss: .retry
        case .unauthenticated: .signIn
        case .permissionDenied: .askForPermission
        case .invalidArgument, .outOfRange, .unimplemented: .correctTheCall
        case .notFound, .alreadyExists, .failedPrecondition, .aborted: .readAgain
        }
    }

    /// The sentence in the app's language.
    public var message: String { sentence.localized() }

    /// A sentence for the person using the app. It names no type, code or path.
    public var sentence: Sentence {
        switch recovery {
        case .none: Sentence("firestore.none", "This was cancelled.")
        case .waitForNetwork:
            Sentence(
                "firestore.waitForNetwork",
                "The server can't be reached right now. Please try again later.")
        case .retry:
            Sentence("firestore.retry", "The service is busy. Please try again in a moment.")
        case .signIn: Sentence("firestore.signIn", "Please sign in again.")
        case .askForPermission:
            Sentence("firestore.askForPermission", "You don't have permission to do this.")
        case .correctTheCall:
            Sentence("firestore.correctTheCall", "Something went wrong in the app.")
        case .readAgain:
            Sentence(
                "firestore.readAgain",
                "This has changed in the meantime. Please check it again.")
        case .repairStorage:
            Sentence("firestore.repairStorage", "This device can't store data right now.")
        case .freeSpace: Sentence("firestore.freeSpace", "There is no space left on this device.")
        case .closeOtherClient:
            Sentence("firestore.closeOtherClient", "Another app or window is using the data.")
        case .waitForUnlock:
            Sentence("firestore.waitForUnlock", "Please unlock the device.")
        case .giveOtherKey:
            Sentence("firestore.giveOtherKey", "The data on this device can't be opened.")
        case .updateApp: Sentence("firestore.updateApp", "Please update the app.")
        case .waitForBudget:
            Sentence(
                "firestore.waitForBudget",
                "Nothing new can be loaded today. Your stored data is still available.")
        }
    }
}

extension FirestoreError: CustomStringConvertible {
    public var description: String { "\(code): \(detail)" }
}

extension FirestoreError: CustomNSError, LocalizedError {
    public static var errorDomain: String { FirestoreErrorDomain }
    public var errorCode: Int { code.rawValue }
    public var errorDescription: String? { message }
    public var failureReason: String? { detail }
    public var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: message, NSLocalizedFailureReasonErrorKey: detail]
    }
}

extension FirestoreError {
    /// The error in the engine's form, for a client that could not be created.
    var syncError: SyncError {
        if let storageFault { return .storage(storageFault) }
        if let readBudget { return .overBudget(readBudget) }
        let code = RPCStatus.Code(rawValue: Int32(code.rawValue)) ?? .unknown
        return .server(RPCStatus(code, detail))
    }
}
