/// A transport without a network, for a client that could not be created, and for tests. It never
/// sends anything.
struct Unconnected: Transport {
    private static let status = RPCStatus(.unavailable, "This client could not be started.")

    private final class Nothing<Message: Sendable>: RequestStream {
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
