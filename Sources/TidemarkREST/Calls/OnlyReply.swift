import Synchronization
import TidemarkModel

/// The reply of a call with a single reply, and the status at its end.
final class OnlyReply: Sendable {
    typealias End = (reply: Reply?, status: RPCStatus)

    private struct State {
        var reply: Reply?
        var end: End?
        var waiter: CheckedContinuation<End, Never>?
    }

    private let state = Mutex(State())

    /// Takes an event. Events after the end are dropped.
    func receive(_ event: StreamEvent<Reply>) {
        let (waiter, end): (CheckedContinuation<End, Never>?, End?) = state.withLock { state in
            if state.end != nil { return (nil, nil) }
            switch event {
            case .message(let reply): state.reply = reply
            case .ended(let status): state.end = (state.reply, status)
            }
            return state.end == nil ? (nil, nil) : (state.waiter.take(), state.end)
        }
        if let waiter, let end { waiter.resume(returning: end) }
    }

    /// The reply and the status; nil before the end.
    var end: End? { state.withLock { $0.end } }

    /// Waits for the end. Only one caller may wait.
    func untilEnd() async -> End {
        await withCheckedContinuation { waiter in
            let end = state.withLock { state in
                if state.end == nil { state.waiter = waiter }
                return state.end
            }
            if let end { waiter.resume(returning: end) }
        }
    }
}

extension RESTCall {
    /// Returns the answer of a call with a single reply.
    func answer(_ end: OnlyReply.End) -> HTTPAnswer {
        guard end.status.code == .ok, let reply = end.reply else { return .error(end.status) }
        var answer = HTTPAnswer(body: .data(data(of: reply)))
        answer.headers = end.status.trailers
        return answer
    }
}
