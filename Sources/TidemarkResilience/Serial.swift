import Synchronization

/// Runs pieces of work one after the other, in the order of their arrival.
///
/// The queue has no bound of its own: its callers wait for their work, so there are at most as many
/// pieces as callers. A piece that has begun to wait is run, also if its caller is cancelled.
package final class Serial: Sendable {
    private let last = Mutex<Task<Void, Never>?>(nil)

    package init() {}

    /// - Returns: The result of `body`, once all earlier pieces have ended.
    package func run<Success: Sendable, Problem: Error>(
        _ body: @escaping @Sendable () async throws(Problem) -> Success
    ) async throws(Problem) -> Success {
        let task = last.withLock { last in
            let before = last
            let task = Task<Result<Success, Problem>, Never> {
                await before?.value
                do throws(Problem) { return .success(try await body()) } catch {
                    return .failure(error)
                }
            }
            last = Task { _ = await task.value }
            return task
        }
        return try await task.value.get()
    }
}
