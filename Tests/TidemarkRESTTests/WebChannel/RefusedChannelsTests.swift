import Testing
import TidemarkModel

@testable import TidemarkREST

struct RefusedChannelsTests {
    private let error = RPCStatus(.unauthenticated, "Who are you?")

    @Test func `an error is read once`() throws {
        var channels = RefusedChannels()
        channels.add("a", error, at: .zero)
        #expect(channels["a"] != nil && channels["b"] == nil)
        #expect(channels.take("b") == nil)
        let error = channels.take("a")
        let text = try #require(error)
        #expect(text.contains("[[1,[{\"error\":") && text.contains("Who are you?"))
        #expect(channels.take("a") == nil && channels.count == 0)
    }

    @Test func `the oldest are forgotten, by number and by time`() {
        var channels = RefusedChannels()
        for number in 0..<5_000 { channels.add("\(number)", error, at: .seconds(1)) }
        #expect(channels.count < RefusedChannels.capacity + 100)
        #expect(channels["4999"] != nil && channels["4000"] != nil && channels["3000"] == nil)
        channels.add("late", error, at: .seconds(9))
        channels.drop(before: .seconds(1) + RefusedChannels.patience)
        #expect(channels.count == 1 && channels["late"] != nil)
    }
}

/// A hub whose callers present a token.
struct ChannelAdmissionTests {
    private struct Gate: CallerGate {
        func caller(_ token: String?, method: String) async throws(RPCStatus) -> Caller {
            if token == "good" { return Caller() }
            throw RPCStatus(.unauthenticated, "Who are you?")
        }
    }

    private func request(_ query: String, token: String? = nil, body: String = "") -> RESTRequest {
        RESTRequest(
            method: "POST", path: ChannelRequest.pathPrefix + "Listen/channel", query: query,
            headers: token.map { ["authorization": "Bearer \($0)"] } ?? [:], body: Array(body.utf8))
    }

    private func text(_ answer: HTTPAnswer?) -> String {
        guard case .data(let data)? = answer?.body else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    @Test func `refused handshakes are no sessions, and what they send is not read`() async throws {
        let hub = ChannelHub(
            HTTPService(ScriptedNowhere(), access: Gate()), makeID: { "sid-of-the-test" })
        let body = "count=1&ofs=0&req0___data__={}"
        let refused = await hub.answer(request("VER=8&RID=1", body: body))
        #expect(text(refused).contains("sid-of-the-test") && hub.count == 0)
        let head = request("VER=8&RID=2&SID=sid-of-the-test")
        #expect(text(hub.refusal(of: head)) == RefusedChannels.status)
        #expect(text(hub.refusal(of: request("VER=8&RID=2&SID=other"))) == "Unknown SID")
        #expect(hub.refusal(of: request("VER=8&RID=1")) == nil, "a handshake is read")
        let back = RESTRequest(
            path: head.path, query: "VER=8&RID=rpc&SID=sid-of-the-test&AID=0&TYPE=xmlhttp")
        #expect(text(await hub.answer(back)).contains("Who are you?"))
        #expect(text(await hub.answer(back)) == "Unknown SID")
        let good = await hub.answer(request("VER=8&RID=1", token: "good", body: body))
        #expect(text(good).contains("sid-of-the-test") && hub.count == 1)
        #expect(hub.refusal(of: head) == nil, "what a session sends is read")
    }

    @Test func `a call is refused by its head`() async {
        let service = HTTPService(ScriptedNowhere(), access: Gate())
        let path = "/v1/projects/p/databases/d/documents:commit"
        let bad = await service.admission(of: RESTRequest(method: "POST", path: path))
        #expect(bad.refusal?.status == 401)
        let nothing = await service.admission(of: RESTRequest(method: "POST", path: "/v1/x"))
        #expect(nothing.refusal?.status == 404)
        let good = await service.admission(
            of: RESTRequest(method: "POST", path: path, headers: ["authorization": "Bearer good"]))
        #expect(good.refusal == nil)
    }
}

/// A transport that answers no call.
private struct ScriptedNowhere: Transport {
    func call(
        _ request: Request, _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<Reply>) -> Void
    ) -> any CancellableCall { Stream<ListenRequest>() }

    func listen(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<ListenResponse>) -> Void
    ) -> any RequestStream<ListenRequest> { Stream() }

    func write(
        _ context: CallContext,
        receive: @escaping @Sendable (StreamEvent<WriteResponse>) -> Void
    ) -> any RequestStream<WriteRequest> { Stream() }

    private final class Stream<Message: Sendable>: RequestStream {
        func send(_ message: Message) {}
        func finish() {}
        func cancel() {}
        func pause() {}
        func resume() {}
    }
}
