import Synchronization
import TidemarkModel

/// The documents of a query. The server is paused while received documents are not taken.
final class PacedRows: Sendable {
    /// The number of waiting documents at which the server is paused, and the number at which it
    /// continues.
    private static let most = 2_000
    private static let few = 500
    /// The bytes of waiting documents at which the server is paused: large documents reach this
    /// limit before `most`.
    private static let mostBytes = 8 << 20

    private struct State {
        var waiting: [Document] = []
        var next = 0
        /// The bytes of the waiting documents.
        var bytes = 0
        var readTime: Timestamp?
        var end: RPCStatus?
        var isPaused = false
        var reader: CheckedContinuation<Void, Never>?
        var call: (any CancellableCall)?

        var count: Int { waiting.count - next }
        var isFull: Bool { count >= PacedRows.most || bytes >= PacedRows.mostBytes }
        var isLow: Bool { count <= PacedRows.few && bytes <= PacedRows.mostBytes / 4 }
    }

    private let state = Mutex(State())

    init(
        _ transport: any Transport, _ context: CallContext, query: Query,
        at consistency: ReadConsistency
    ) {
        let request = RunQueryRequest(query: query, consistency: consistency)
        let call = transport.call(.runQuery(request), context) { [weak self] event in
            self?.take(event)
        }
        // The answer may already have begun.
        let isPaused = state.withLock { state in
            state.call = call
            return state.isPaused
        }
        if isPaused { call.pause() }
    }

    deinit { cancel() }

    /// The read time of the documents; nil until the server sends it.
    var readTime: Timestamp? { state.withLock { $0.readTime } }

    func cancel() { state.withLock { $0.call }?.cancel() }

    private func take(_ event: StreamEvent<Reply>) {
        let (reader, call) = state.withLock { state in
            var pausing: (any CancellableCall)?
            switch event {
            case .message(.runQuery(let reply)):
                if let document = reply.document {
                    state.waiting.append(document)
                    state.bytes += document.fields.storageSize
                }
                state.readTime = reply.readTime ?? state.readTime
                if state.isFull, !state.isPaused {
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

    /// Returns the next document; nil at the end.
    ///
    /// - Throws: The status at the end of the call, unless it is ok; `cancelled` if the task is
    ///   cancelled.
    func next() async throws(RPCStatus) -> Document? {
        while true {
            let (document, end, resuming) = state.withLock { state in
                defer {
                    // Taken documents are removed in large pieces.
                    if state.next >= Self.few {
                        state.waiting.removeFirst(state.next)
                        state.next = 0
                    }
                }
                guard state.count > 0 else { return (nil as Document?, state.end, nil as Call?) }
                let document = state.waiting[state.next]
                state.next += 1
                state.bytes -= document.fields.storageSize
                guard state.isPaused, state.isLow else { return (document, nil, nil) }
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
