import NIOCore
import Synchronization
import TidemarkObjects

/// The requests of resumable uploads that are being answered.
final class UploadDesk: Sendable {
    private struct State {
        var last = 0
        var calls: [CallID: UploadCall] = [:]
    }

    private let state = Mutex(State())

    /// - Parameter channel: The connection of the request, which is closed when another request
    ///   takes its place.
    func open(on channel: any NIOCore.Channel) -> UploadCall {
        state.withLock { state in
            state.last += 1
            let call = UploadCall(id: state.last, channel: channel)
            state.calls[call.id] = call
            return call
        }
    }

    func close(_ call: UploadCall) { state.withLock { $0.calls[call.id] = nil } }

    /// Tells requests what to do next.
    ///
    /// - Returns: The events of requests that have left without doing it.
    func deliver(_ directives: [(call: CallID, directive: UploadDirective)]) -> [UploadEvent] {
        directives.compactMap { id, directive in
            if let call = state.withLock({ $0.calls[id] }) {
                call.take(directive)
                return nil
            }
            switch directive {
            case .receive: return .failed(.cutOff, id)
            case .commit: return .refused(.cutOff, isForGood: false, id)
            case .stop, .answer: return nil
            }
        }
    }
}

/// A request of a resumable upload.
final class UploadCall: Sendable {
    let id: CallID
    /// The next steps of the request. A request has at most three before its answer.
    let directives: AsyncStream<UploadDirective>
    private let continuation: AsyncStream<UploadDirective>.Continuation
    private let channel: any NIOCore.Channel
    private let stopped = Atomic(false)

    init(id: CallID, channel: any NIOCore.Channel) {
        self.id = id
        self.channel = channel
        (directives, continuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(4))
    }

    /// True if another request has taken the place of this one.
    var isStopped: Bool { stopped.load(ordering: .sequentiallyConsistent) }

    /// Ends the request without an answer of the machine.
    func finish() { continuation.finish() }

    func take(_ directive: UploadDirective) {
        guard case .stop = directive else {
            continuation.yield(directive)
            return
        }
        stopped.store(true, ordering: .sequentiallyConsistent)
        // The request may wait for bytes that never come.
        channel.close(mode: .all, promise: nil)
    }
}
