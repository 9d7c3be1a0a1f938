import Foundation
import Synchronization
import Testing
import TestSupport
import TidemarkModel
import TidemarkWire

@testable import TidemarkREST

/// The service reads a document, with an answer that arrives early or late.
@Suite(.timeLimit(.minutes(2))) struct ShortReadTests {
    private static let request = RESTRequest(
        method: "GET", path: "/v1/projects/p/databases/d/documents/rooms/blue", query: nil,
        headers: [:], body: [])
    /// A request whose answer can be long.
    private static let query = RESTRequest(
        method: "POST", path: "/v1/projects/p/databases/d/documents:runQuery", query: nil,
        headers: [:],
        body: Array(#"{"structuredQuery": {"from": [{"collectionId": "rooms"}]}}"#.utf8))
    private static let document = Document(
        path: DocumentPath(unchecked: "rooms/blue"), fields: ["n": .integer(5)],
        createTime: Timestamp(seconds: 1, nanoseconds: 0),
        updateTime: Timestamp(seconds: 2, nanoseconds: 0))

    private func fields(_ answer: HTTPAnswer) throws -> [String: Any] {
        guard case .data(let data) = answer.body else { return [:] }
        let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return object?["fields"] as? [String: Any] ?? [:]
    }

    @Test func `an answer that is there when the call returns is given`() async throws {
        let transport = HeldTransport { receive in
            receive(.message(.document(Self.document)))
            receive(.ended(.ok))
            // This message is a mistake of the server. The service ignores it.
            receive(.message(.empty))
        }
        let answer = await HTTPService(transport, access: nil).answer(Self.request)
        #expect(answer.status == 200)
        #expect(try fields(answer).keys.sorted() == ["n"])
        #expect(transport.contexts.map(\.mayAnswerAtOnce) == [true])
    }

    @Test func `one that comes later is waited for`() async throws {
        let transport = HeldTransport { _ in }
        let service = HTTPService(transport, access: nil)
        async let answer = service.answer(Self.request)
        let receive = try await transport.sink()
        receive(.message(.document(Self.document)))
        receive(.ended(.ok))
        #expect(try fields(await answer).keys.sorted() == ["n"])
    }

    @Test func `an error is the answer, whenever it comes`() async throws {
        let missing = RPCStatus(.notFound, "nothing there")
        let early = HeldTransport { $0(.ended(missing)) }
        #expect(await HTTPService(early, access: nil).answer(Self.request).status == 404)
        let late = HeldTransport { _ in }
        let service = HTTPService(late, access: nil)
        async let answer = service.answer(Self.request)
        try await late.sink()(.ended(missing))
        #expect(await answer.status == 404)
    }

    @Test func `who stops waiting cancels the call`() async throws {
        let transport = HeldTransport { _ in }
        let service = HTTPService(transport, access: nil)
        let task = Task { await service.answer(Self.request) }
        _ = try await transport.sink()
        task.cancel()
        #expect(await task.value.status == 499)
    }

    @Test(arguments: [request, query])
    func `a server that says nothing is given up after the method's time`(
        request: RESTRequest
    ) async throws {
        let transport = HeldTransport { _ in }
        let service = HTTPService(transport, access: nil)
        async let answer = service.answer(request)
        _ = try await transport.sink()
        // The service can start to wait after the sink exists.
        try await until("the call is given up") {
            service.desk.sweep(later: .seconds(3_600))
            return transport.cancellations > 0
        }
        #expect(await answer.status == 504)
    }
}

/// A server that answers when the test calls its sink.
private final class HeldTransport: Transport {
    typealias Sink = @Sendable (StreamEvent<Reply>) -> Void

    private struct State {
        var sink: Sink?
        var contexts: [CallContext] = []
        var cancellations = 0
    }

    private let state = Mutex(State())
    private let inside: @Sendable (Sink) -> Void

    /// - Parameter inside: Runs before the call returns.
    init(inside: @escaping @Sendable (Sink) -> Void) { self.inside = inside }

    var contexts: [CallContext] { state.withLock(\.contexts) }
    var cancellations: Int { state.withLock(\.cancellations) }

    /// Waits for the call, and returns its sink.
    func sink() async throws -> Sink {
        try await until("the call is made") { state.withLock { $0.sink != nil } }
        return state.withLock(\.sink)!
    }

    func call(
        _ request: Request, _ context: CallContext, receive: @escaping Sink
    ) -> any CancellableCall {
        state.withLock { state in
            state.sink = receive
            state.contexts.append(context)
        }
        inside(receive)
        return Call {
            self.state.withLock { $0.cancellations += 1 }
            receive(.ended(RPCStatus(.cancelled, "The caller cancelled.")))
        }
    }

    func listen(
        _ context: CallContext, receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> { fatalError("nobody listens here") }

    func write(
        _ context: CallContext, receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> { fatalError("nobody writes here") }

    private final class Call: CancellableCall {
        private let end: @Sendable () -> Void
        init(_ end: @escaping @Sendable () -> Void) { self.end = end }
        func cancel() { end() }
    }
}
