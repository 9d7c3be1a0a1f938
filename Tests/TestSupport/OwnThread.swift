import Dispatch
public import Testing

/// Runs tasks one after the other on a thread of its own.
public final class OneThread: TaskExecutor {
    // A serial queue always gets a thread, however many of the default executor's are busy.
    private let queue: DispatchQueue

    /// - Parameter label: Names the thread for a debugger.
    public init(_ label: String) { queue = DispatchQueue(label: label) }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Plays each case of a test on a thread of its own.
///
/// For tests that compute for more than a second without a pause: on the few threads that Swift's tasks
/// share, they would keep every other test waiting, among them those that a server has to answer in time.
public struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(OneThread("tidemark.tests.own")) {
            try await function()
        }
    }
}

/// Plays all cases with this trait on one thread that they share, one at a time.
///
/// For the histories, which have a process of their own: each takes much memory, and its cases are many.
public struct OneCore: SuiteTrait, TestTrait, TestScoping {
    private static let thread = OneThread("tidemark.tests.one-core")

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(Self.thread) { try await function() }
    }
}

extension Trait where Self == OwnThread {
    public static var ownThread: Self { OwnThread() }
}

extension Trait where Self == OneCore {
    public static var oneCore: Self { OneCore() }
}
