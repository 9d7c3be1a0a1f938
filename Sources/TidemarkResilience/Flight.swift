import Synchronization

/// One piece of work and those who wait for it. Without its types: what is generic, and not known where
/// it is used, would cost more than all the rest.
final class Flight: Sendable {
    private typealias Waiter = UnsafeContinuation<any Sendable, any Error>

    private enum Caller {
        /// It will wait in a moment, on its own thread.
        case joined
        case waiting(Waiter)
    }

    private struct State {
        var work: Task<Void, Never>?
        /// The first one has the number 0.
        var callers: [Int: Caller] = [0: .joined]
        var lastCaller = 0
        var onEnd: (@Sendable () -> Void)?
        /// Kept for callers that have joined, when the work ends before they wait.
        var result: Result<any Sendable, any Error>?
        /// Whether all callers have left.
        var isAbandoned = false
    }

    private let state = Mutex(State())

    var callers: Int { state.withLock { $0.callers.count } }

    /// - Returns: Nil when it has ended.
    func join() -> Int? {
        state.withLock { state in
            if state.result != nil || state.isAbandoned { return nil }
            state.lastCaller += 1
            state.callers[state.lastCaller] = .joined
            return state.lastCaller
        }
    }

    /// - Parameter onEnd: Called once, when nobody can join any more.
    func start(
        _ work: @escaping @Sendable () async throws -> any Sendable,
        onEnd: @escaping @Sendable () -> Void
    ) {
        state.withLock { $0.onEnd = onEnd }
        let task = Task.begun {
            do { self.end(.success(try await work())) } catch { self.end(.failure(error)) }
        }
        let isAbandoned = state.withLock { state in
            if state.result == nil { state.work = task }
            return state.isAbandoned
        }
        if isAbandoned { task.cancel() }
    }

    /// - Throws: What the work throws, or `CancellationError` to a caller that is cancelled.
    func value(for caller: Int) async throws -> any Sendable {
        if let result = take(caller) { return try result.get() }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { wait(caller, $0) }
        } onCancel: {
            leave(caller)
        }
    }

    /// What is there already.
    private func take(_ caller: Int) -> Result<any Sendable, any Error>? {
        state.withLock { state in
            guard let result = state.result else { return nil }
            state.callers[caller] = nil
            return result
        }
    }

    private func wait(_ caller: Int, _ waiter: Waiter) {
        let result: Result<any Sendable, any Error>? = state.withLock { state in
            // It was cancelled before it came to wait.
            guard state.callers[caller] != nil else { return .failure(CancellationError()) }
            state.callers[caller] = state.result == nil ? .waiting(waiter) : nil
            return state.result
        }
        if let result { waiter.resume(with: result) }
    }

    private func end(_ result: Result<any Sendable, any Error>) {
        let (waiters, onEnd) = state.withLock { state -> ([Waiter], (@Sendable () -> Void)?) in
            state.result = result
            state.work = nil
            var waiters: [Waiter] = []
            for case (let caller, .waiting(let waiter)) in state.callers {
                waiters.append(waiter)
                state.callers[caller] = nil
            }
            return (waiters, state.onEnd.take())
        }
        onEnd?()
        for waiter in waiters { waiter.resume(with: result) }
    }

    private func leave(_ caller: Int) {
        let left = state.withLock {
            state -> (Caller, Task<Void, Never>?, (@Sendable () -> Void)?)? in
            guard let place = state.callers.removeValue(forKey: caller) else { return nil }
            if !state.callers.isEmpty || state.result != nil { return (place, nil, nil) }
            state.isAbandoned = true
            return (place, state.work.take(), state.onEnd.take())
        }
        guard let (place, work, onEnd) = left else { return }
        onEnd?()
        if case .waiting(let waiter) = place { waiter.resume(throwing: CancellationError()) }
        work?.cancel()
    }
}

extension Task where Failure == Never, Success == Void {
    /// A task that begins on the caller's thread where that is possible: work that does not suspend
    /// then needs no other thread.
    fileprivate static func begun(_ work: @escaping @Sendable () async -> Void) -> Self {
        #if compiler(>=6.2)
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                return .immediate(operation: work)
            }
        #endif
        return Task(operation: work)
    }
}
