import Synchronization
import Testing
import TidemarkModel
import TidemarkResilience
import TidemarkWire

@Suite(.timeLimit(.minutes(2))) struct CallTests {
    @Test func `a query's rows arrive in order and end with ok`() async throws {
        let rows = (0..<1_000).map { row in
            Reply.runQuery(
                RunQueryReply(
                    document: document("rooms/\(row)"), readTime: Timestamp(microseconds: 7)))
        }
        try await Loopback.with(ScriptedTransport(replies: rows)) { loopback in
            let query = Query(collectionID: "rooms")
            let answer = await loopback.client.answer(to: .runQuery(RunQueryRequest(query: query)))
            #expect(answer.status == .ok)
            #expect(answer.replies == rows)
            #expect(loopback.client.traffic.received > 1_000 * 50)
        }
    }

    @Test func `an error keeps its code and its sentence, and has no replies`() async throws {
        let status = RPCStatus(.failedPrecondition, "Ümläute & 100 % of the text.")
        let transport = ScriptedTransport { _, _, receive in receive(.ended(status)) }
        try await Loopback.with(transport) { loopback in
            let answer = await loopback.client.answer(to: .deleteDocument(path("a/b"), .none))
            #expect(answer.status == status)
            #expect(answer.replies.isEmpty)
        }
    }

    @Test func `an error's details and trailers arrive with it, and an ok end's trailers too`()
        async throws
    {
        var refused = RPCStatus(
            .failedPrecondition, "No.",
            details: [
                .reason("COSINE_DISTANCE_ON_ZERO_VECTOR"),
                .help(description: "Read on", url: "https://example.com/?a=b#c"),
                .badRequest(field: "é", description: "100 %"),
            ])
        refused.trailers = ["x-tidemark-reads": "3", "x-tidemark-note": "é"]
        var fine = RPCStatus.ok
        fine.trailers = ["x-tidemark-reads": "1"]
        let ends = [refused, fine]
        for end in ends {
            let transport = ScriptedTransport { _, _, receive in
                if end.code == .ok { receive(.message(.empty)) }
                receive(.ended(end))
            }
            try await Loopback.with(transport) { loopback in
                let answer = await loopback.client.answer(to: .deleteDocument(path("a/b"), .none))
                #expect(answer.status == end)
                var expected = end.trailers
                if end.code != .ok { expected["x-tidemark-note"] = "?" }
                #expect(answer.status.trailers == expected)
            }
        }
    }

    @Test func `an error comes as headers, then trailers without a content type`() async throws {
        let status = RPCStatus(.notFound, "No a/b? Try c#d, 100 %.")
        let transport = ScriptedTransport { _, _, receive in receive(.ended(status)) }
        try await Loopback.with(transport) { loopback in
            let parts = try await loopback.rawParts(of: .deleteDocument(path("a/b"), .none))
            #expect(parts == ["metadata", "status \(status.message) []"])
        }
    }

    @Test func `the label, the tokens and the database arrive with the call`() async throws {
        let seen = Facts<CallContext>()
        let transport = ScriptedTransport { _, context, receive in
            seen.add(context)
            receive(.message(.empty))
            receive(.ended(.ok))
        }
        var sent = CallContext(
            database: try DatabaseID(project: "p", database: "other"), label: "before",
            timeout: .seconds(30), token: "owner", appCheckToken: "attested")
        try await Loopback.with(transport) { [sent] loopback in
            _ = await loopback.client.answer(to: .deleteDocument(path("a/b"), .none), sent)
        }
        // The client names itself in `user-agent`.
        let agent = try #require(seen.all.first?.agent)
        #expect(agent.hasPrefix("tidemark/"))
        sent.agent = agent
        #expect(seen.all == [sent])
    }

    @Test func `a cancelled call ends once, and the server hears of it`() async throws {
        let started = Facts<Bool>()
        let transport = ScriptedTransport { _, _, _ in started.add(true) }
        try await Loopback.with(transport) { loopback in
            let received = Received<Reply>()
            let request = Request.getDocument(GetDocumentRequest(path: path("a/b")))
            let call = loopback.client.call(request, context, receive: received.sink)
            await started.wait()
            call.cancel()
            call.cancel()
            #expect(await received.end().code == .cancelled)
            #expect(await transport.cancelled.wait() == [request])
            #expect(received.ends.all.count == 1)
        }
    }

    @Test func `a call that takes too long ends with deadline exceeded`() async throws {
        try await Loopback.with(ScriptedTransport { _, _, _ in }) { loopback in
            let context = CallContext(database: database, timeout: .milliseconds(20))
            let answer = await loopback.client.answer(
                to: .getDocument(GetDocumentRequest(path: path("a/b"))), context)
            #expect(answer.status.code == .deadlineExceeded)
        }
    }

    /// A cancelled sleep leaves its timer, which wakes a phone long after the call.
    @Test func `a call's time limit shares the sleep of all limits, and ends with the call`()
        async throws
    {
        let started = Facts<Int>()
        let transport = ScriptedTransport { _, _, _ in started.add(systemLimits.count) }
        try await Loopback.with(transport) { loopback in
            let context = CallContext(database: database, timeout: .seconds(3_600))
            let received = Received<Reply>()
            let request = Request.getDocument(GetDocumentRequest(path: path("a/b")))
            let call = loopback.client.call(request, context, receive: received.sink)
            #expect(await started.wait().allSatisfy { $0 > 0 })
            call.cancel()
            #expect(await received.end().code == .cancelled)
        }
    }

    /// A client that does not watch its own clock learns from the server that the deadline has
    /// passed.
    @Test func `a server says of a deadline that it has passed, not that the call was cancelled`()
        async throws
    {
        let transport = ScriptedTransport { _, _, _ in }
        try await Loopback.with(transport) { loopback in
            let request = Request.getDocument(GetDocumentRequest(path: path("a/b")))
            let parts = try await loopback.rawParts(of: request, timeout: "20m")
            #expect(parts.last == "status \(RPCStatus.timedOut.message) []")
            #expect(await transport.cancelled.wait() == [request])
        }
    }

    @Test func `where nothing listens a call is unavailable, and the next one tries anew`()
        async throws
    {
        let loopback = try await Loopback(ScriptedTransport(replies: [.empty]))
        loopback.server.cancel()
        _ = await loopback.server.result
        let request = Request.deleteDocument(path("a/b"), .none)
        #expect(await loopback.client.answer(to: request).status.code == .unavailable)
        let again = try await Loopback(ScriptedTransport(replies: [.empty]), port: loopback.port)
        #expect(await loopback.client.answer(to: request).status == .ok)
        await again.close()
        await loopback.client.close()
    }

    @Test func `after close a call is cancelled`() async throws {
        try await Loopback.with(ScriptedTransport()) { loopback in
            await loopback.client.close()
            let answer = await loopback.client.answer(to: .rollback([1]))
            #expect(answer.status.code == .cancelled)
        }
    }

    @Test func `a document of ten megabytes goes both ways`() async throws {
        let big = document("a/b", bytes: 10 << 20)
        try await Loopback.with(ScriptedTransport(replies: [.document(big)])) { loopback in
            let update = UpdateDocumentRequest(path: big.path, fields: big.fields)
            let answer = await loopback.client.answer(to: .updateDocument(update))
            #expect(answer.status == .ok)
            #expect(answer.replies == [.document(big)])
        }
    }

    @Test func `a request over the limit is an invalid argument, with the limit in the text`()
        async throws
    {
        try await Loopback.with(ScriptedTransport(replies: [.empty])) { loopback in
            let update = UpdateDocumentRequest(
                path: path("a/b"), fields: document("a/b", bytes: 12 << 20).fields)
            let answer = await loopback.client.answer(to: .updateDocument(update))
            #expect(answer.status.code == .invalidArgument)
            #expect(answer.status.message.contains("11534336"))
        }
    }

    @Test func `a thousand calls at once are all answered`() async throws {
        let transport = ScriptedTransport { request, _, receive in
            guard case .getDocument(let get) = request else { return receive(.ended(.malformed)) }
            receive(.message(.document(document(get.path.text))))
            receive(.ended(.ok))
        }
        try await Loopback.with(transport) { loopback in
            let found = await withTaskGroup(of: Bool.self) { group in
                for row in 0..<1_000 {
                    group.addTask {
                        let path = path("rooms/\(row)")
                        let answer = await loopback.client.answer(
                            to: .getDocument(GetDocumentRequest(path: path)))
                        return answer.replies == [.document(document(path.text))]
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(found == 1_000)
        }
    }
}

extension RPCStatus {
    fileprivate static let malformed = RPCStatus(.internal, "the test asked for something else")
}
