import GRPCCore
import Synchronization
import Testing
import TidemarkModel

@testable import TidemarkWire

/// Access to the server: the token, the number of calls at the same time, and their duration.
struct AccessTests {
    private func context(_ token: String?) -> CallContext {
        CallContext(database: database, token: token)
    }

    private let get = Request.getDocument(GetDocumentRequest(path: path("c/d")))

    @Test func `without the token every call and stream is refused, with the reason`() async throws
    {
        let transport = ScriptedTransport(replies: [.document(document("c/d"))])
        let access = try #require(AccessToken("secret"))
        let loopback = try await Loopback(transport, access: access)
        for token in [nil, "wrong", "secret2"] {
            let answer = await loopback.client.answer(to: get, context(token))
            #expect(answer.status.code == .unauthenticated)
            #expect(
                answer.status.details == [
                    .errorInfo(
                        reason: "CREDENTIALS_MISSING", domain: "googleapis.com",
                        metadata: [
                            "service": "firestore.googleapis.com",
                            "method": "google.firestore.v1.Firestore.GetDocument",
                        ])
                ])
        }
        #expect(await loopback.client.answer(to: get, context("secret")).status.code == .ok)
        let heard = Received<ListenResponse>()
        let stream = loopback.client.listen(context("wrong"), receive: heard.sink)
        stream.send(.remove(targetID: 1))
        #expect(await heard.end().code == .unauthenticated)
        #expect(transport.listens.opened.all.isEmpty)
        await loopback.close()
    }

    @Test func `calls are bounded on each connection and on all`() {
        let desk = CallDesk(nil, CallLimits(perConnection: 2, calls: 3))
        #expect(desk.enter("a") == nil)
        #expect(desk.enter("a") == nil)
        #expect(desk.enter("a")?.code == .resourceExhausted)
        #expect(desk.enter("b") == nil)
        #expect(desk.enter("c")?.code == .resourceExhausted)
        desk.leave("a")
        #expect(desk.enter("c") == nil)
    }

    @Test func `a connection with too many streams is told so, and its others live`() async throws {
        let transport = ScriptedTransport()
        let limit = 5
        let limits = CallLimits(perConnection: limit)
        let loopback = try await Loopback(transport, limits: limits)
        var streams: [(any RequestStream<ListenRequest>, Received<ListenResponse>)] = []
        for id in 0..<limit {
            let heard = Received<ListenResponse>()
            let stream = loopback.client.listen(context(nil), receive: heard.sink)
            stream.send(.remove(targetID: Int32(id)))
            streams.append((stream, heard))
        }
        let opened = await transport.listens.opened.wait(for: limit)
        #expect(await loopback.client.answer(to: get).status.code == .resourceExhausted)
        streams[0].0.cancel()
        _ = await streams[0].1.end()
        // The streams may have arrived in another order than they were opened.
        for served in opened where await served.received.wait()[0] == .remove(targetID: 0) {
            _ = await served.cancelled.wait()
        }
        #expect(streams[1].1.messages.all.isEmpty)
        await loopback.close()
    }

    @Test func `a call without a deadline has one of the server's`() {
        let desk = CallDesk(nil)
        let ended = Mutex<[String]>([])
        _ = desk.watch(.seconds(60)) { ended.withLock { $0.append("write") } }
        _ = desk.watch(.seconds(300)) { ended.withLock { $0.append("query") } }
        let done = desk.watch(.seconds(60)) { ended.withLock { $0.append("done") } }
        desk.unwatch(done)
        desk.sweep()
        #expect(ended.withLock { $0 } == [])
        desk.sweep(later: .seconds(61))
        desk.sweep(later: .seconds(61))
        #expect(ended.withLock { $0 } == ["write"])
        desk.sweep(later: .seconds(301))
        #expect(ended.withLock { $0 } == ["write", "query"])
        #expect(RPCMethod.commit.defaultTimeout == .seconds(60))
        #expect(RPCMethod.runQuery.defaultTimeout == .seconds(300))
    }

    @Test func `App Check's token is in the metadata that production reads, as it is`() {
        let attested = CallContext(database: database, token: "T", appCheckToken: "attested")
        let metadata = Metadata(attested)
        #expect(Array(metadata[stringValues: "x-firebase-appcheck"]) == ["attested"])
        #expect(Array(metadata[stringValues: "authorization"]) == ["Bearer T"])
        let other = Metadata(CallContext(database: database, token: "T"))
        #expect(Array(other[stringValues: "x-firebase-appcheck"]).isEmpty)
    }

    @Test func `each call names the client and its version`() {
        let metadata = Metadata(CallContext(database: database))
        #expect(
            Array(metadata[stringValues: "x-goog-api-client"]) == ["tidemark/\(Version.number)"])
    }

    @Test func `label, client and the wish for a bill come over the wire`() async throws {
        let seen = Facts<CallContext>()
        let transport = ScriptedTransport { _, context, receive in
            seen.add(context)
            receive(.ended(.ok))
        }
        let loopback = try await Loopback(transport)
        let asked = CallContext(
            database: database, label: "feed", client: "phone 7", reportsUsage: true)
        _ = await loopback.client.answer(to: get, asked)
        let context = try #require(seen.all.first)
        #expect(context.label == "feed")
        #expect(context.client == "phone 7")
        #expect(context.reportsUsage)
        await loopback.close()
    }
}
