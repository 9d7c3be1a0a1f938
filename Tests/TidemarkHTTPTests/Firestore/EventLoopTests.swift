import NIOCore
import NIOPosix
import Synchronization
import Testing
import TidemarkModel
import TidemarkServer

@testable import TidemarkHTTP

/// The event loops of connections do no work that can take long.
@Suite(.timeLimit(.minutes(2))) struct EventLoopTests {
    /// Records which calls arrived on an event loop. A call arrives after its request was parsed.
    private final class Noted: Transport {
        private let server: FirestoreServer
        private let seen = Mutex<[RPCMethod: Bool]>([:])
        var isOnEventLoop: [RPCMethod: Bool] { seen.withLock(\.self) }

        init() throws { server = try FirestoreServer(FirestoreServer.Configuration()) }

        func call(
            _ request: Request, _ context: CallContext,
            receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
        ) -> any CancellableCall {
            let isHere = MultiThreadedEventLoopGroup.currentEventLoop != nil
            seen.withLock { $0[request.method] = isHere }
            return server.call(request, context, receive: receive)
        }

        func listen(
            _ context: CallContext,
            receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
        ) -> any RequestStream<ListenRequest> { server.listen(context, receive: receive) }

        func write(
            _ context: CallContext,
            receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
        ) -> any RequestStream<WriteRequest> { server.write(context, receive: receive) }
    }

    @Test func `a document is asked for on the event loop, and a body is read elsewhere`()
        async throws
    {
        let transport = try Noted()
        let port = try await Port(transport: transport)
        let client = try await port.connect()
        let documents = "/v1/projects/p/databases/(default)/documents"
        let end = " HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        try await client.writeAndFlush(
            ByteBuffer(string: "GET \(documents)/rooms/blue\(end)\r\n"))
        try await port.received("NOT_FOUND", times: 1)
        let body = #"{"writes": []}"#
        try await client.writeAndFlush(
            ByteBuffer(
                string: "POST \(documents):commit\(end)Content-Length: \(body.utf8.count)\r\n\r\n"
                    + body))
        try await port.received("commitTime", times: 1)
        #expect(transport.isOnEventLoop == [.getDocument: true, .commit: false])
        try await client.close()
        try await port.close()
    }
}
