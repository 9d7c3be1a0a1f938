import Synchronization
package import TidemarkModel

/// Ends a stream when its client's token is revoked or expires, and stops watching the token when
/// the stream is over.
package final class StreamLease: Sendable {
    private struct State {
        var onEnd: (@Sendable (RPCStatus) -> Void)?
        /// Why the stream has to end, until somebody can end it.
        var ending: RPCStatus?
        var watches: [@Sendable () -> Void] = []
        var isOver = false
    }

    private let state = Mutex(State())

    package init() {}

    deinit { release() }

    /// - Parameter body: Ends the stream. Called at most once, and at once where it is due already.
    package func onEnd(_ body: @escaping @Sendable (RPCStatus) -> Void) {
        let ending = state.withLock { state in
            guard let ending = state.ending.take() else {
                state.onEnd = body
                return RPCStatus?.none
            }
            return ending
        }
        if let ending { body(ending) }
    }

    package func end(_ status: RPCStatus) {
        let body = state.withLock { state in
            guard let body = state.onEnd.take() else {
                state.ending = state.ending ?? status
                return (@Sendable (RPCStatus) -> Void)?.none
            }
            return body
        }
        body?(status)
    }

    /// - Parameter leave: Called when the stream is over.
    func hold(_ leave: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.watches.append(leave) }
            return state.isOver
        }
        if isOver { leave() }
    }

    /// The stream is over.
    package func release() {
        let watches = state.withLock { state in
            state.isOver = true
            state.onEnd = nil
            defer { state.watches = [] }
            return state.watches
        }
        for leave in watches { leave() }
    }
}
