// https://developer.apple.com/documentation/backgroundtasks
public import Dispatch
public import Foundation
import Synchronization

/// https://developer.apple.com/documentation/backgroundtasks/bgtaskrequest
public class BGTaskRequest: NSObject {
    public let identifier: String
    /// https://developer.apple.com/documentation/backgroundtasks/bgtaskrequest/earliestbegindate
    public var earliestBeginDate: Date?
    fileprivate init(stub identifier: String) { self.identifier = identifier }
}

/// https://developer.apple.com/documentation/backgroundtasks/bgapprefreshtaskrequest
public final class BGAppRefreshTaskRequest: BGTaskRequest {
    public init(identifier: String) { super.init(stub: identifier) }
}

/// https://developer.apple.com/documentation/backgroundtasks/bgprocessingtaskrequest
public final class BGProcessingTaskRequest: BGTaskRequest {
    public var requiresNetworkConnectivity = false
    public var requiresExternalPower = false
    public init(identifier: String) { super.init(stub: identifier) }
}

/// https://developer.apple.com/documentation/backgroundtasks/bgtask
public final class BGTask: NSObject {
    public let identifier: String
    /// https://developer.apple.com/documentation/backgroundtasks/bgtask/expirationhandler
    public var expirationHandler: (() -> Void)?
    private let completions = Mutex<[Bool]>([])

    fileprivate init(stub identifier: String) { self.identifier = identifier }

    /// https://developer.apple.com/documentation/backgroundtasks/bgtask/settaskcompleted(success:)
    public func setTaskCompleted(success: Bool) { completions.withLock { $0.append(success) } }

    /// The parameter of each call that ended the task.
    public var stubCompletions: [Bool] { completions.withLock { $0 } }
}

/// Runs a task when a test starts it.
///
/// https://developer.apple.com/documentation/backgroundtasks/bgtaskscheduler
public final class BGTaskScheduler: NSObject {
    public static var shared: BGTaskScheduler { BGTaskScheduler() }

    public struct StubRefused: Error {}

    // @unchecked: a test uses the state from a single task.
    private struct State: @unchecked Sendable {
        var handlers: [String: (BGTask) -> Void] = [:]
        var requests: [BGTaskRequest] = []
        var refuses = false
    }

    private static let state = Mutex(State())

    /// https://developer.apple.com/documentation/backgroundtasks/bgtaskscheduler/
    /// register(fortaskwithidentifier:using:launchhandler:)
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        nonisolated(unsafe) let handler = launchHandler  // called on the test's task
        return Self.state.withLock { state in
            if state.refuses { return false }
            state.handlers[identifier] = handler
            return true
        }
    }

    /// https://developer.apple.com/documentation/backgroundtasks/bgtaskscheduler/submit(_:)
    public func submit(_ taskRequest: BGTaskRequest) throws {
        nonisolated(unsafe) let request = taskRequest  // looked at by the test's task
        let isRefused = Self.state.withLock { state in
            if !state.refuses { state.requests.append(request) }
            return state.refuses
        }
        if isRefused { throw StubRefused() }
    }

    public static func stubReset(refuses: Bool = false) {
        state.withLock { $0 = State(refuses: refuses) }
    }

    public static var stubRequests: [BGTaskRequest] {
        nonisolated(unsafe) var all: [BGTaskRequest] = []  // handed to the test's task
        state.withLock { all = $0.requests }
        return all
    }

    public static func stubRun(_ identifier: String) -> BGTask? {
        nonisolated(unsafe) var handler: ((BGTask) -> Void)?  // called on the test's task
        state.withLock { handler = $0.handlers[identifier] }
        let task = BGTask(stub: identifier)
        handler?(task)
        return handler == nil ? nil : task
    }
}
