/// Reports the queries of a transport to an advisor.
struct AdvisedTransport: Transport {
    private let base: any Transport
    private let advisor: IndexAdvisor

    init(_ base: any Transport, _ advisor: IndexAdvisor) {
        self.base = base
        self.advisor = advisor
    }

    func networkChanged() { base.networkChanged() }
    func prepare() { base.prepare() }

    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        switch request {
        case .runQuery(let request): advisor.note(request.query)
        case .runAggregationQuery(let request):
            advisor.note(request.query, request.aggregations)
        default: break
        }
        return base.call(request, context, receive: receive)
    }

    func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        AdvisedStream(base.listen(context, receive: receive), advisor)
    }

    func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        base.write(context, receive: receive)
    }
}

private final class AdvisedStream: RequestStream {
    private let base: any RequestStream<ListenRequest>
    private let advisor: IndexAdvisor

    init(_ base: any RequestStream<ListenRequest>, _ advisor: IndexAdvisor) {
        self.base = base
        self.advisor = advisor
    }

    func send(_ message: ListenRequest) {
        if case .add(let target, _) = message, case .query(let query) = target.kind {
            advisor.note(query)
        }
        base.send(message)
    }

    func finish() { base.finish() }
    func cancel() { base.cancel() }
    func pause() { base.pause() }
    func resume() { base.resume() }
}
