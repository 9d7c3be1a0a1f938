import Synchronization
import TidemarkModel

/// All documents of a database in the order of their names, as of one time. The server is paused while
/// what has come is not taken.
final class PacedRows: Sendable {
    /// Documents that wait, at which the server is paused, and at which it goes on.
    private static let most = 2_000
    private static let few = 500

    private struct State {
        var waiting: [Document] = []
        var next = 0
        var end: RPCStatus?
        var isPaused = false
        var reader: CheckedContinuation<Void, Never>?
        var call: (any CancellableCall)?

        var count: Int { waiting.count - next }
    }

    private let state = Mutex(State())

    init(_ transport: any Transport, _ context: CallContext) {
        let query = Query(
            collectionID: nil, allDescendants: true, orders: [Order(.documentID)])
        let call = transport.call(.runQuery(RunQueryRequest(query: query)), context) {
            [weak self] event in self?.take(event)
        }
        // The answer may have begun already.
        let isPaused = state.withLock { state in
            state.call = call
            return state.isPaused
        }
        if isPaused { call.pause() }
    }

    deinit { cancel() }

    func cancel() { state.withLock { $0.call }?.cancel() }

    private func take(_ event: StreamEvent<Reply>) {
        let (reader, call) = state.withLock { state in
            var pausing: (any CancellableCall)?
            switch event {
            case .message(.runQuery(let reply)):
                if let document = reply.document { state.waiting.append(document) }
                if state.count >= Self.most, !state.isPaused {
                    state.isPaused = true
                    pausing = state.call
                }
            case .message: break
            case .ended(let status): state.end = status
            }
            defer { state.reader = nil }
            return (state.reader, pausing)
        }
        call?.pause()
        reader?.resume()
    }

    /// The next document; nil at the end.
    ///
    /// - Throws: The status with which the call ended, unless it is ok; `cancelled` when the task is.
    func next() async throws(RPCStatus) -> Document? {
        while true {
            let (document, end, resuming) = state.withLock { state in
                defer {
                    // What was taken is dropped in large pieces.
                    if state.next >= Self.few {
                        state.waiting.removeFirst(state.next)
                        state.next = 0
                    }
                }
                guard state.count > 0 else { return (nil as Document?, state.end, nil as Call?) }
                let document = state.waiting[state.next]
                state.next += 1
                guard state.isPaused, state.count <= Self.few else { return (document, nil, nil) }
                state.isPaused = false
                return (document, nil, state.call)
            }
            resuming?.resume()
            if let document { return document }
            if let end {
                if end.code != .ok { throw end }
                return nil
            }
            await wait()
            if Task.isCancelled { throw RPCStatus(.cancelled, "The export was cancelled.") }
        }
    }

    private typealias Call = any CancellableCall

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.count > 0 || state.end != nil { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
    }
}
