import Dispatch
import TidemarkModel

/// A server behind a round trip: messages in each direction arrive after half of it.
///
/// The order is kept, and nothing is lost. A delay blocks no thread.
struct DelayedTransport: Transport {
    let base: any Transport
    let roundTrip: Duration
    private let queue = DispatchQueue(label: "benchmark.network")

    init(_ base: any Transport, roundTrip: Duration) {
        self.base = base
        self.roundTrip = roundTrip
    }

    private func later(_ body: @escaping @Sendable () -> Void) {
        queue.asyncAfter(
            deadline: .now() + .microseconds(Int(roundTrip / .microseconds(2))), execute: body)
    }

    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        let call = DelayedCall()
        later {
            call.begin(base.call(request, context) { event in later { receive(event) } })
        }
        return call
    }

    func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        DelayedStream(base.listen(context) { event in later { receive(event) } }, later)
    }

    func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        DelayedStream(base.write(context) { event in later { receive(event) } }, later)
    }
}

// `@unchecked`: the call is set once, before a cancellation. These benchmarks cancel no call.
private final class DelayedCall: CancellableCall, @unchecked Sendable {
    private var call: (any CancellableCall)?

    func begin(_ call: any CancellableCall) { self.call = call }
    func cancel() { call?.cancel() }
}

private final class DelayedStream<Message: Sendable>: RequestStream {
    private let base: any RequestStream<Message>
    private let later: @Sendable (@escaping @Sendable () -> Void) -> Void

    init(
        _ base: any RequestStream<Message>,
        _ later: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.base = base
        self.later = later
    }

    func send(_ message: Message) { later { [base] in base.send(message) } }
    func finish() { later { [base] in base.finish() } }
    func cancel() { base.cancel() }
}
