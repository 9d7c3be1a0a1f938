import Synchronization
import TidemarkModel

/// Limits the replies between the receiving thread and the engine. When much data waits for the
/// engine, the sender is paused, so that a fast network does not fill the memory while a slow disk
/// stores.
final class ReplyFlowControl: Sendable {
    private struct State {
        /// The bytes received and not yet processed.
        var waiting = 0
        var isPaused = false
        var call: (any CancellableCall)?
    }

    private let state = Mutex(State())
    /// The numbers of bytes at which a pause begins and ends.
    private static let (most, few) = (1 << 20, 1 << 18)

    /// Sets the call whose replies arrive here. Called once.
    func attach(_ call: any CancellableCall) {
        state.withLock { state in
            state.call = call
            Self.settle(&state)
        }
    }

    func received(_ event: StreamEvent<Reply>) {
        let size = event.size
        state.withLock { state in
            state.waiting += size
            Self.settle(&state)
        }
    }

    func processed(_ event: StreamEvent<Reply>) {
        let size = event.size
        state.withLock { state in
            state.waiting -= size
            Self.settle(&state)
        }
    }

    /// Pauses or resumes the call. Runs under the lock, so the call receives pauses and resumes in
    /// order.
    private static func settle(_ state: inout State) {
        if !state.isPaused, state.waiting > most, let call = state.call {
            state.isPaused = true
            call.pause()
        } else if state.isPaused, state.waiting <= few {
            state.isPaused = false
            state.call?.resume()
        }
    }
}

extension StreamEvent<Reply> {
    /// The approximate memory in bytes.
    fileprivate var size: Int {
        let few = 256
        guard case .message(let reply) = self else { return few }
        switch reply {
        case .runQuery(let reply): return few + (reply.document?.contents.bytes.count ?? 0)
        case .batchGetDocuments(let reply):
            guard case .found(let document)? = reply.row else { return few }
            return few + document.contents.bytes.count
        default: return few
        }
    }
}
