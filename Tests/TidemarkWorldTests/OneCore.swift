import Dispatch
import Testing

/// Plays a suite on one thread of its own, one case at a time: seconds of work without a pause, on the few
/// threads that Swift's tasks share, would keep every other test waiting past its limit.
struct OneCore: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(OneCoreExecutor.shared) { try await function() }
    }
}

extension Trait where Self == OneCore {
    static var oneCore: Self { OneCore() }
}

private final class OneCoreExecutor: TaskExecutor {
    static let shared = OneCoreExecutor()

    private let queue = DispatchQueue(label: "tidemark.tests.one-core")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
