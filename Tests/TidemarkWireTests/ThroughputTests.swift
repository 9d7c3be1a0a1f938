import Testing
import TidemarkModel
import TidemarkWire

/// Prints what a loopback socket carries. The numbers depend on the machine and the build, so nothing
/// is asserted of them; what arrives is.
@Suite(.timeLimit(.minutes(20)), .serialized) struct ThroughputTests {
    @Test func `documents of a query, and of a listen`() async throws {
        let count = 20_000
        let documents = (0..<count).map { document("rooms/\($0)", bytes: 300) }
        let transport = ScriptedTransport(
            replies: documents.map { .runQuery(RunQueryReply(document: $0)) })
        try await Loopback.with(transport) { loopback in
            let client = loopback.client
            _ = await client.answer(to: .deleteDocument(path("a/b"), .none))
            let query = Request.runQuery(RunQueryRequest(query: Query(collectionID: "rooms")))
            let querying = await ContinuousClock().measure {
                #expect(await client.answer(to: query).replies.count == count)
            }
            report("query", count, querying)
            let received = Received<ListenResponse>()
            let stream = client.listen(context, receive: received.sink)
            stream.send(.remove(targetID: 1))
            let served = await transport.listens.opened.wait()[0]
            let listening = await ContinuousClock().measure {
                for document in documents {
                    served.answer(.documentChange(DocumentChange(document, targetIDs: [2])))
                }
                await received.messages.wait(for: count)
            }
            report("listen", count, listening)
            served.end(.ok)
            #expect(await received.end() == .ok)
        }
    }

    @Test func `one call after the other`() async throws {
        let reply = Reply.document(document("a/b", bytes: 300))
        try await Loopback.with(ScriptedTransport(replies: [reply])) { loopback in
            let request = Request.getDocument(GetDocumentRequest(path: path("a/b")))
            let count = 500
            let clock = ContinuousClock()
            var times: [Duration] = []
            for _ in 0..<count {
                let start = clock.now
                #expect(await loopback.client.answer(to: request).replies == [reply])
                times.append(clock.now - start)
            }
            times.sort()
            print(
                "a call over loopback: median \(times[count / 2]), p99 \(times[count * 99 / 100])")
        }
    }

    private func report(_ kind: String, _ count: Int, _ duration: Duration) {
        let seconds = duration / .seconds(1)
        print("\(kind): \(Int(Double(count) / seconds)) documents a second")
    }
}
