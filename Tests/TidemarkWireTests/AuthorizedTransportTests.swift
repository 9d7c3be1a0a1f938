import Synchronization
import Testing
import TidemarkModel
import TidemarkTesting

@testable import TidemarkWire

/// A token provider that returns the results given by a test, when the test gives them.
private final class ScriptedTokens: TokenProvider {
    typealias Answer = @Sendable (Result<String?, RPCStatus>) -> Void

    private struct State {
        var asked: [String?] = []
        var waiting: [Answer] = []
        var ready: [Result<String?, RPCStatus>] = []
    }

    private let state = Mutex(State())

    /// The tokens that callers reported as refused, in order.
    var asked: [String?] { state.withLock { $0.asked } }

    /// Provides results in advance. Each answers one later request immediately.
    func prepare(_ results: Result<String?, RPCStatus>...) {
        state.withLock { $0.ready += results }
    }

    func token(replacing refused: String?, receive: @escaping Answer) {
        let result = state.withLock { state -> Result<String?, RPCStatus>? in
            state.asked.append(refused)
            if !state.ready.isEmpty { return state.ready.removeFirst() }
            state.waiting.append(receive)
            return nil
        }
        if let result { receive(result) }
    }

    func answer(_ result: Result<String?, RPCStatus>) {
        let waiting = state.withLock { $0.waiting.removeFirst() }
        waiting(result)
    }
}

/// Records the events that a sink receives.
private final class Heard<Message: Sendable>: Sendable {
    private let events = Mutex<[StreamEvent<Message>]>([])
    private let ends: AsyncStream<RPCStatus>
    private let input: AsyncStream<RPCStatus>.Continuation

    init() { (ends, input) = AsyncStream.makeStream() }

    var sink: @Sendable (StreamEvent<Message>) -> Void {
        { [self] event in
            events.withLock { $0.append(event) }
            if case .ended(let status) = event { input.yield(status) }
        }
    }

    var messages: Int {
        events.withLock { $0.filter { if case .message = $0 { true } else { false } }.count }
    }
    var codes: [RPCStatus.Code] {
        events.withLock {
            $0.compactMap { if case .ended(let status) = $0 { status.code } else { nil } }
        }
    }

    func end() async -> RPCStatus? {
        for await status in ends { return status }
        return nil
    }
}

struct `A token in every call` {
    private let base = TidemarkTestKit.ScriptedTransport()
    private let tokens = ScriptedTokens()
    private let refused = RPCStatus(.unauthenticated, "old")
    private var transport: AuthorizedTransport { AuthorizedTransport(base, tokens) }

    private func context() throws -> CallContext {
        CallContext(database: try DatabaseID(project: "p", database: "(default)"))
    }

    private let request = Request.getDocument(
        GetDocumentRequest(path: DocumentPath(unchecked: "c/d")))

    @Test func `goes with a call at once when it is in memory`() throws {
        tokens.prepare(.success("A"), .success(nil))
        let (transport, heard) = (transport, Heard<Reply>())
        _ = transport.call(request, try context(), receive: heard.sink)
        _ = transport.call(request, try context(), receive: heard.sink)
        #expect(base.calls.map(\.context.token) == ["A", nil])
        base.calls[0].end()
        base.calls[1].end(refused)
        #expect(heard.codes == [.ok, .unauthenticated], "without a token there is none to renew")
        #expect(tokens.asked == [nil, nil])
    }

    @Test func `is asked for anew once when it is refused, and the call made again`() throws {
        tokens.prepare(.success("A"))
        let (transport, heard) = (transport, Heard<Reply>())
        _ = transport.call(request, try context(), receive: heard.sink)
        base.calls[0].end(refused)
        #expect(tokens.asked == [nil, "A"] && heard.codes.isEmpty)
        tokens.answer(.success("B"))
        #expect(base.calls.map(\.context.token) == ["A", "B"])
        base.calls[1].end(refused)
        #expect(heard.codes == [.unauthenticated], "once, and not for ever")
        tokens.prepare(.success("C"))
        _ = transport.call(request, try context(), receive: heard.sink)
        #expect(tokens.asked == [nil, "A", "B"], "a refused one is not sent again")
        #expect(base.calls.last?.context.token == "C")
    }

    @Test func `is asked for without a refused one once another was accepted`() throws {
        tokens.prepare(.success("A"))
        let (transport, heard) = (transport, Heard<Reply>())
        _ = transport.call(request, try context(), receive: heard.sink)
        base.calls[0].end(refused)
        tokens.answer(.success("B"))
        base.calls[1].reply(.empty)
        base.calls[1].end()
        _ = transport.call(request, try context(), receive: heard.sink)
        // A provider that refreshes after each report of a refused token refreshes once here.
        #expect(tokens.asked == [nil, "A", nil])
    }

    @Test func `that cannot be had ends the call with the reason`() async throws {
        let (transport, heard) = (transport, Heard<Reply>())
        tokens.prepare(.failure(RPCStatus(.unavailable, "offline")))
        _ = transport.call(request, try context(), receive: heard.sink)
        #expect(await heard.end()?.code == .unavailable)
        _ = transport.call(request, try context(), receive: heard.sink)
        tokens.answer(.failure(RPCStatus(.unavailable, "offline")))
        #expect(heard.codes == [.unavailable, .unavailable] && base.calls.isEmpty)
    }

    @Test func `is not waited for by a call that is cancelled`() throws {
        let (transport, heard) = (transport, Heard<Reply>())
        let call = transport.call(request, try context(), receive: heard.sink)
        call.cancel()
        #expect(heard.codes == [.cancelled])
        tokens.answer(.success("A"))
        #expect(base.calls.isEmpty && heard.codes == [.cancelled])
    }

    @Test func `is awaited by a stream's messages, which keep their order and are sent again`()
        throws
    {
        let (transport, heard) = (transport, Heard<ListenResponse>())
        let stream = transport.listen(try context(), receive: heard.sink)
        for id in 1...3 { stream.send(.remove(targetID: Int32(id))) }
        #expect(base.listens.isEmpty)
        tokens.answer(.success("A"))
        #expect(base.listens[0].sent == (1...3).map { .remove(targetID: $0) })
        tokens.prepare(.success("B"))
        base.listens[0].end(refused)
        #expect(base.listens.map(\.context.token) == ["A", "B"])
        #expect(base.listens[1].sent == (1...3).map { .remove(targetID: $0) })
        base.listens[1].push(.targetChange(TargetChange(.noChange, targetIDs: [])))
        stream.send(.remove(targetID: 4))
        #expect(base.listens[1].sent.last == .remove(targetID: 4))
        stream.finish()
        #expect(base.listens[1].isFinished && heard.messages == 1)
    }

    @Test func `that runs out under an open stream ends it, and the next has a new one`() throws {
        tokens.prepare(.success("A"), .success("B"))
        let (transport, heard) = (transport, Heard<ListenResponse>())
        _ = transport.listen(try context(), receive: heard.sink)
        base.listens[0].push(.targetChange(TargetChange(.noChange, targetIDs: [])))
        base.listens[0].end(refused)
        #expect(heard.codes == [.unauthenticated] && base.listens.count == 1)
        _ = transport.listen(try context(), receive: heard.sink)
        #expect(tokens.asked == [nil, "A"] && base.listens.last?.context.token == "B")
    }

    @Test func `bounds what waits for it`() throws {
        let (transport, heard) = (transport, Heard<ListenResponse>())
        let stream = transport.listen(try context(), receive: heard.sink)
        for _ in 0...AuthorizedTransport.maxWaiting { stream.send(.remove(targetID: 1)) }
        #expect(heard.codes == [.resourceExhausted])
    }

    // MARK: App Check

    private let appCheck = ScriptedTokens()

    @Test func `goes beside an app's own, which is asked for anew with it`() throws {
        let transport = AuthorizedTransport(base, tokens, appCheck: appCheck)
        let heard = Heard<Reply>()
        tokens.prepare(.success("A"), .success("B"))
        appCheck.prepare(.success("X"), .success("Y"))
        _ = transport.call(request, try context(), receive: heard.sink)
        base.calls[0].end(refused)
        #expect(base.calls.map(\.context.appCheckToken) == ["X", "Y"])
        #expect(base.calls.map(\.context.token) == ["A", "B"])
        #expect(appCheck.asked == [nil, "X"])
    }

    @Test func `of an app alone leaves a call's own token as it is`() throws {
        let transport = AuthorizedTransport(base, nil, appCheck: appCheck)
        var context = try context()
        context.token = "own"
        appCheck.prepare(.success("X"))
        _ = transport.call(request, context, receive: Heard<Reply>().sink)
        #expect(base.calls[0].context.token == "own" && base.calls[0].context.appCheckToken == "X")
    }

    @Test func `of an app that cannot be attested is left out`() throws {
        let transport = AuthorizedTransport(base, tokens, appCheck: appCheck)
        tokens.prepare(.success("A"))
        appCheck.prepare(.failure(RPCStatus(.unavailable, "no attestation")))
        _ = transport.call(request, try context(), receive: Heard<Reply>().sink)
        #expect(base.calls[0].context.token == "A" && base.calls[0].context.appCheckToken == nil)
    }
    /// Connecting takes as long as fetching a token, so both run at the same time.
    @Test func `prepares the connection while a token is fetched, and not where it is at hand`()
        throws
    {
        let (base, tokens) = (TidemarkTestKit.ScriptedTransport(), ScriptedTokens())
        let transport = AuthorizedTransport(base, tokens)
        _ = transport.listen(try context()) { _ in }
        #expect(base.preparations == 1 && base.listens.isEmpty)
        tokens.answer(.success("a"))
        #expect(base.listens.count == 1)
        tokens.prepare(.success("a"))
        _ = transport.write(try context()) { _ in }
        #expect(base.preparations == 1 && base.writes.count == 1)
        tokens.prepare(.failure(RPCStatus(.unauthenticated, "signed out")))
        _ = transport.listen(try context()) { _ in }
        #expect(base.preparations == 1, "there will be no call")
    }
}
