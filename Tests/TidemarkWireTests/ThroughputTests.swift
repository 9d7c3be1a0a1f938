import Testing
import TidemarkModel
import TidemarkWire

/// A loopback socket delivers all data, of any size. `make bench` measures the speed.
@Suite(.timeLimit(.minutes(2)), .serialized) struct ThroughputTests {
    @Test func `documents of a query, and of a listen`() async throws {
        let count = 20_000
        let documents = (0..<count).map { document("rooms/\($0)", bytes: 300) }
        let transport = ScriptedTransport(
            replies: documents.map { .runQuery(RunQueryReply(document: $0)) })
        try await Loopback.with(transport) { loopback in
            let client = loopback.client
            _ = await client.answer(to: .deleteDocument(path("a/b"), .none))
            let query = Request.runQuery(RunQueryRequest(query: Query(collectionID: "rooms")))
            #expect(await client.answer(to: query).replies.count == count)
            let received = Received<ListenResponse>()
            let stream = client.listen(context, receive: received.sink)
            stream.send(.remove(targetID: 1))
            let served = await transport.listens.opened.wait()[0]
            for document in documents {
                served.answer(.documentChange(DocumentChange(document, targetIDs: [2])))
            }
            await received.messages.wait(for: count)
            served.end(.ok)
            #expect(await received.end() == .ok)
        }
    }

    @Test func `one call after the other`() async throws {
        let reply = Reply.document(document("a/b", bytes: 300))
        try await Loopback.with(ScriptedTransport(replies: [reply])) { loopback in
            let request = Request.getDocument(GetDocumentRequest(path: path("a/b")))
            for _ in 0..<500 {
                #expect(await loopback.client.answer(to: request).replies == [reply])
            }
        }
    }
}
