import Tidemark

/// A network that is not there: every call and stream ends at once with `unavailable`.
struct Unreachable: Transport {
    private static let status = RPCStatus(.unavailable, "There is no network.")

    final class Nothing<Message: Sendable>: RequestStream {
        func send(_ message: Message) {}
        func finish() {}
        func cancel() {}
    }

    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall {
        Task { receive(.ended(Self.status)) }
        return Nothing<Request>()
    }

    func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> {
        Task { receive(.ended(Self.status)) }
        return Nothing<ListenRequest>()
    }

    func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> {
        Task { receive(.ended(Self.status)) }
        return Nothing<WriteRequest>()
    }
}
