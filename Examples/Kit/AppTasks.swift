import Synchronization

/// The running tasks of an app. ``cancel()`` cancels all of them; a finished task is removed.
public final class AppTasks: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    public init() {}

    public func add(_ task: Task<Void, Never>) {
        begin {
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    /// Starts a task that retains `owner` while it runs.
    public func begin<Owner: AnyObject & Sendable>(
        _ owner: Owner, _ body: @escaping @Sendable (Owner) async -> Void
    ) {
        begin { [weak owner] in
            guard let owner else { return }
            await body(owner)
        }
    }

    /// Passes each element to `body` until the sequence ends or fails, or `owner` is released.
    public func watch<Owner: AnyObject & Sendable, Elements: AsyncSequence & Sendable>(
        _ elements: Elements, for owner: Owner,
        _ body: @escaping @Sendable (Owner, Elements.Element) -> Void
    ) {
        begin { [weak owner] in
            do {
                for try await element in elements {
                    guard let owner else { return }
                    body(owner, element)
                }
            } catch { return }
        }
    }

    public func cancel() { for task in state.withLock({ $0.tasks.values }) { task.cancel() } }

    private func begin(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.last += 1
            let number = state.last
            state.tasks[number] = Task { [weak self] in
                await body()
                self?.state.withLock { $0.tasks[number] = nil }
            }
        }
    }
}

extension Optional where Wrapped: Equatable {
    /// Replaces the value.
    ///
    /// - Returns: True if the new value differs from the old one.
    public mutating func exchange(_ new: Wrapped) -> Bool {
        defer { self = new }
        return self != new
    }
}
