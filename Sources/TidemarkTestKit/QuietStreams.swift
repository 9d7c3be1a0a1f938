package import TidemarkModel

/// A stream or a call that never receives anything.
package final class QuietStream<Message: Sendable>: RequestStream {
    package init() {}

    package func send(_ message: Message) {}
    package func finish() {}
    package func cancel() {}
}

/// A transport for tests of single calls. Its streams open and receive nothing.
package protocol CallsOnlyTransport: Transport {}

extension CallsOnlyTransport {
    package func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> { QuietStream<ListenRequest>() }

    package func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> { QuietStream<WriteRequest>() }
}
