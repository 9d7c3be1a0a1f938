import Testing
import TidemarkModel
import TidemarkWire

@Suite(.timeLimit(.minutes(2))) struct StreamTests {
    private let target = ListenTarget(
        id: 2, .query(Query(collectionID: "rooms")), resume: .token([1, 2]), expectedCount: 7)

    @Test func `a listen stream carries requests and changes both ways`() async throws {
        let transport = ScriptedTransport()
        try await Loopback.with(transport) { loopback in
            let received = Received<ListenResponse>()
            let labelled = CallContext(database: database, label: "feed")
            let stream = loopback.client.listen(labelled, receive: received.sink)
            let add = ListenRequest.add(target, labels: ["goog-listen-tags": "x"])
            stream.send(add)
            let served = await transport.listens.opened.wait()[0]
            #expect(served.context.label == "feed")
            #expect(await served.received.wait() == [add])
            let changes = (0..<500).map { row in
                ListenResponse.documentChange(
                    DocumentChange(document("rooms/\(row)"), targetIDs: [2]))
            }
            for change in changes { served.answer(change) }
            #expect(await received.messages.wait(for: 500) == changes)
            stream.send(.remove(targetID: 2))
            #expect(await served.received.wait(for: 2)[1] == .remove(targetID: 2))
            stream.finish()
            await served.finished.wait()
            served.end(.ok)
            #expect(await received.end() == .ok)
        }
    }

    @Test func `a write stream carries the handshake and batches`() async throws {
        let transport = ScriptedTransport()
        try await Loopback.with(transport) { loopback in
            let received = Received<WriteResponse>()
            let stream = loopback.client.write(context, receive: received.sink)
            stream.send(WriteRequest())
            let served = await transport.writes.opened.wait()[0]
            #expect(await served.received.wait() == [WriteRequest()])
            let hello = WriteResponse(streamID: "s", streamToken: [1])
            served.answer(hello)
            #expect(await received.messages.wait() == [hello])
            let batch = WriteRequest(
                streamToken: [1], mutations: [Mutation(path: path("a/b"), .set(["x": .integer(1)]))]
            )
            stream.send(batch)
            #expect(await served.received.wait(for: 2)[1] == batch)
            served.end(RPCStatus(.notFound, "gone"))
            #expect(await received.end() == RPCStatus(.notFound, "gone"))
        }
    }

    @Test func `a cancelled stream ends once, and the server hears of it`() async throws {
        let transport = ScriptedTransport()
        try await Loopback.with(transport) { loopback in
            let received = Received<ListenResponse>()
            let stream = loopback.client.listen(context, receive: received.sink)
            stream.send(.add(target, labels: [:]))
            let served = await transport.listens.opened.wait()[0]
            stream.cancel()
            #expect(await received.end().code == .cancelled)
            await served.cancelled.wait()
            stream.send(.remove(targetID: 2))
            stream.cancel()
            #expect(received.ends.all.count == 1)
        }
    }

    @Test func `streams of a server that stops end with unavailable`() async throws {
        let transport = ScriptedTransport()
        let loopback = try await Loopback(transport)
        let received = Received<ListenResponse>()
        let stream = loopback.client.listen(context, receive: received.sink)
        stream.send(.add(target, labels: [:]))
        await transport.listens.opened.wait()
        loopback.server.cancel()
        let end = await received.end()
        #expect(end.code == .unavailable, "\(end)")
        _ = await loopback.server.result
        await loopback.client.close()
    }

    @Test func `a target that makes no sense is passed on with the reason, and the stream lives`()
        async throws
    {
        let transport = ScriptedTransport()
        try await Loopback.with(transport) { loopback in
            let received = Received<ListenResponse>()
            let stream = loopback.client.listen(context, receive: received.sink)
            let bad = ListenTarget(id: 2, .query(Query(collectionID: "a//b")))
            stream.send(.add(bad, labels: [:]))
            stream.send(.add(target, labels: [:]))
            let served = await transport.listens.opened.wait()[0]
            let requests = await served.received.wait(for: 2)
            guard case .unreadable(2, let cause) = requests[0] else {
                Issue.record("\(requests[0])")
                return
            }
            #expect(cause.code == .invalidArgument)
            #expect(cause.message.contains("a//b"))
            #expect(requests[1] == .add(target, labels: [:]))
            served.end(.ok)
            #expect(await received.end() == .ok)
        }
    }
}
