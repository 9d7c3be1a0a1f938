import Dispatch
public import Testing

/// Runs tasks one after the other on a separate thread.
public final class OneThread: TaskExecutor {
    // A serial queue always gets a thread, even if all threads of the default executor are busy.
    private let queue: DispatchQueue

    /// - Parameter label: The name of the thread in a debugger.
    public init(_ label: String) { queue = DispatchQueue(label: label) }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Runs each case of a test on a separate thread.
///
/// Use it for tests that compute for more than a second without a pause. On the few threads that
/// Swift's tasks share, they would delay every other test. Some of those tests use a server that
/// must answer in time.
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

/// Runs all cases with this trait on one shared thread, one at a time.
///
/// Use it for the histories, which run in a separate process. There are many cases, and each needs
/// much memory.
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
