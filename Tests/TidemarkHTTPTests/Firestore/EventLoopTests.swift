import NIOCore
import NIOPosix
import Synchronization
import Testing
import TidemarkModel

@testable import TidemarkHTTP

/// What may take long is not done where connections are served.
@Suite(.timeLimit(.minutes(2))) struct EventLoopTests {
    /// Notes which calls have come to it on an event loop. They have been read by then.
    private final class Gate: CallerGate {
        private let seen = Mutex<[String: Bool]>([:])
        var isOnEventLoop: [String: Bool] { seen.withLock(\.self) }

        func caller(_ token: String?, method: String) async throws(RPCStatus) -> Caller {
            let isHere = MultiThreadedEventLoopGroup.currentEventLoop != nil
            seen.withLock { $0[method] = isHere }
            return Caller()
        }
    }

    @Test func `a document is asked for on the event loop, and a body is read elsewhere`()
        async throws
    {
        let gate = Gate()
        let port = try await Port(access: gate)
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
        #expect(gate.isOnEventLoop == ["GetDocument": true, "Commit": false])
        try await client.close()
        try await port.close()
    }
}
