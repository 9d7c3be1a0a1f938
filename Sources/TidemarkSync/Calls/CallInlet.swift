import Synchronization
import TidemarkModel

/// Between the thread on which a call's messages come and the engine: while much waits for the engine,
/// the sender makes a pause, so that a fast line does not fill the memory of a slow disk.
final class CallInlet: Sendable {
    private struct State {
        /// Bytes that came and have not been taken in.
        var waiting = 0
        var isPaused = false
        var call: (any CancellableCall)?
    }

    private let state = Mutex(State())
    /// In bytes: where a pause begins, and where it ends.
    private static let (most, few) = (1 << 20, 1 << 18)

    /// Called once, with the call whose messages come here.
    func attach(_ call: any CancellableCall) {
        state.withLock { state in
            state.call = call
            Self.settle(&state)
        }
    }

    func came(_ event: StreamEvent<Reply>) {
        let size = event.size
        state.withLock { state in
            state.waiting += size
            Self.settle(&state)
        }
    }

    func taken(_ event: StreamEvent<Reply>) {
        let size = event.size
        state.withLock { state in
            state.waiting -= size
            Self.settle(&state)
        }
    }

    /// Inside the lock, so that a pause and its end reach the call in this order.
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
    /// What it takes of memory, about.
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
