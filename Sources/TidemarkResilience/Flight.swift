import Synchronization

/// A unit of work and its callers, without the types of the work. Generic code that is not
/// specialized where it is used would cost more than everything else.
@usableFromInline final class Flight: Sendable {
    @usableFromInline typealias Outcome = Result<Landed, any Error>
    private typealias Waiter = UnsafeContinuation<Landed, any Error>

    /// The result of the work, in a box of a class that its reader knows. Casting an untyped value
    /// would cost as much as all locks of a call together.
    ///
    /// `@unchecked`, because the compiler cannot check a class with subclasses. The only subclass
    /// holds a constant of a sendable type.
    @usableFromInline class Landed: @unchecked Sendable {
        @usableFromInline init() {}
    }

    private enum Caller {
        /// The caller will wait soon, on its own thread.
        case joined
        case waiting(Waiter)
    }

    private struct State {
        var work: Task<Void, Never>?
        /// The caller that began the work. Stored separately, because usually it is the only one.
        var first: Caller? = .joined
        var others: [Int: Caller] = [:]
        var lastCaller = 0
        /// Kept for callers that have joined but do not wait yet when the work ends.
        var result: Outcome?
        /// True if all callers have left.
        var isAbandoned = false

        var count: Int { others.count + (first == nil ? 0 : 1) }

        subscript(caller: Int) -> Caller? {
            get { caller == 0 ? first : others[caller] }
            set { if caller == 0 { first = newValue } else { others[caller] = newValue } }
        }
    }

    private let state = Mutex(State())

    @usableFromInline init() {}

    var callers: Int { state.withLock { $0.count } }

    /// - Returns: The caller's number; nil if the flight has ended.
    @usableFromInline func join() -> Int? {
        state.withLock { state in
            if state.result != nil || state.isAbandoned { return nil }
            state.lastCaller += 1
            state.others[state.lastCaller] = .joined
            return state.lastCaller
        }
    }

    /// Stores the task of the work. The work ends the flight, and may have ended it already.
    @usableFromInline func carries(_ work: Task<Void, Never>) {
        let isAbandoned = state.withLock { state in
            if state.result == nil { state.work = work }
            return state.isAbandoned
        }
        if isAbandoned { work.cancel() }
    }

    /// - Parameters:
    ///   - caller: The caller's number; 0 for the first caller.
    ///   - close: Called when the last caller leaves, so no caller can join any more.
    /// - Throws: The error of the work, or `CancellationError` if the caller is cancelled.
    @usableFromInline nonisolated(nonsending) func value(
        for caller: Int, close: @Sendable () -> Void
    ) async throws -> Landed {
        if let result = take(caller) { return try result.get() }
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { wait(caller, $0) }
        } onCancel: {
            leave(caller, close)
        }
    }

    /// Returns the result if the work has ended.
    private func take(_ caller: Int) -> Outcome? {
        state.withLock { state in
            guard let result = state.result else { return nil }
            state[caller] = nil
            return result
        }
    }

    private func wait(_ caller: Int, _ waiter: Waiter) {
        let result: Outcome? = state.withLock { state in
            // The caller was cancelled before it started to wait.
            guard state[caller] != nil else { return .failure(CancellationError()) }
            state[caller] = state.result == nil ? .waiting(waiter) : nil
            return state.result
        }
        if let result { waiter.resume(with: result) }
    }

    /// - Parameter close: Called when no caller can join any more, and before any waiting caller
    ///   resumes.
    @usableFromInline func end(_ result: Outcome, close: () -> Void) {
        let waiters = state.withLock { state -> [Waiter] in
            state.result = result
            state.work = nil
            var waiters: [Waiter] = []
            if case .waiting(let waiter)? = state.first {
                waiters.append(waiter)
                state.first = nil
            }
            for case (let caller, .waiting(let waiter)) in state.others {
                waiters.append(waiter)
                state.others[caller] = nil
            }
            return waiters
        }
        close()
        for waiter in waiters { waiter.resume(with: result) }
    }

    private func leave(_ caller: Int, _ close: () -> Void) {
        let left = state.withLock {
            state -> (place: Caller, isLast: Bool, work: Task<Void, Never>?)? in
            guard let place = state[caller] else { return nil }
            state[caller] = nil
            if state.count > 0 || state.result != nil { return (place, false, nil) }
            state.isAbandoned = true
            return (place, true, state.work.take())
        }
        guard let left else { return }
        if left.isLast { close() }
        if case .waiting(let waiter) = left.place {
            waiter.resume(throwing: CancellationError())
        }
        left.work?.cancel()
    }
}

extension Task where Failure == Never, Success == Void {
    /// Returns a task that begins on the caller's thread where the system allows it. Work that does
    /// not suspend then needs no other thread.
    @inlinable static func begun(_ work: @escaping @Sendable () async -> Void) -> Self {
        #if compiler(>=6.2)
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                return .immediate(operation: work)
            }
        #endif
        return Task(operation: work)
    }
}
