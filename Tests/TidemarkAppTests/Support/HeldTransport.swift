import Synchronization
import Tidemark

/// A transport that can hold its calls until `letGo()`.
final class HeldTransport: Transport {
    private struct State {
        var isHolding = false
        var held: [@Sendable () -> Void] = []
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    private let base: any Transport
    private let state = Mutex(State())

    init(_ base: any Transport) { self.base = base }

    func hold() { state.withLock { $0.isHolding = true } }

    /// Returns once a call waits.
    func untilHeld() async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.held.isEmpty { state.watchers.append(continuation) }
                return !state.held.isEmpty
            }
            if isThere { continuation.resume() }
        }
    }

    func letGo() {
        let held = state.withLock { state in
            state.isHolding = false
            defer { state.held = [] }
            return state.held
        }
        for call in held { call() }
    }

    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        let call = HeldCall()
        let begin: @Sendable () -> Void = { [base] in
            call.begin { base.call(request, context, receive: receive) }
        }
        let watchers = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
            guard state.isHolding else { return nil }
            state.held.append(begin)
            defer { state.watchers = [] }
            return state.watchers
        }
        guard let watchers else {
            begin()
            return call
        }
        for watcher in watchers { watcher.resume() }
        return call
    }

    func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> { base.listen(context, receive: receive) }

    func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> { base.write(context, receive: receive) }
}

/// A call that is cancelled before it begins never begins.
private final class HeldCall: CancellableCall {
    private let state = Mutex<(call: (any CancellableCall)?, isCancelled: Bool)>((nil, false))

    func begin(_ call: () -> any CancellableCall) {
        if state.withLock(\.isCancelled) { return }
        let call = call()
        state.withLock { $0.call = call }
    }

    func cancel() {
        let call = state.withLock { state in
            state.isCancelled = true
            return state.call
        }
        call?.cancel()
    }
}
