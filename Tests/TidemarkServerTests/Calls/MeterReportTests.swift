import Testing
import TidemarkModel
import TidemarkServer

/// The meter separates its counts by several dimensions, within limits, and a call can report its
/// own bill.
struct MeterReportTests {
    let server: TestServer

    init() throws { server = try TestServer() }

    private func caller(_ client: String, label: String = "app") -> CallContext {
        CallContext(
            database: server.database, label: label, client: client, reportsUsage: true)
    }

    private func ask(_ request: Request, _ context: CallContext) throws -> RPCStatus {
        let heard = Heard<Reply>()
        _ = server.server.call(request, context) { heard.receive($0) }
        server.machine.run()
        return try #require(heard.status)
    }

    private func write(_ paths: String..., by context: CallContext) throws -> RPCStatus {
        try ask(.commit(CommitRequest(mutations: paths.map { set($0, [:]) })), context)
    }

    @Test func `a report tells apart what it was asked to notify apart`() throws {
        _ = try write("rooms/a", "rooms/a/messages/1", by: caller("phone"))
        _ = try ask(.getDocument(GetDocumentRequest(path: path("rooms/a"))), caller("phone"))
        _ = try ask(.runQuery(RunQueryRequest(query: collection("rooms"))), caller("tablet"))
        let byClient = server.server.meter(by: [.client])
        #expect(byClient.map(\.client) == ["phone", "tablet"])
        #expect(byClient.map(\.reads) == [1, 1])
        #expect(byClient.map(\.writes) == [2, 0])
        #expect(byClient.allSatisfy { $0.label == nil && $0.target == nil && $0.method == nil })
        let byTarget = server.server.meter(by: [.target, .method])
        func row(_ target: String, _ method: String) -> MeterDetail? {
            byTarget.first { $0.target == target && $0.method == method }
        }
        #expect(row("rooms", "Commit")?.writes == 1)
        #expect(row("rooms/a/messages", "Commit")?.writes == 1)
        #expect(row("rooms", "GetDocument")?.reads == 1)
        #expect(row("rooms", "RunQuery")?.reads == 1)
        let total = server.server.meter(by: [])
        #expect(total.count == 1)
        #expect(total.first?.reads == 2)
    }

    @Test func `a listen is counted under the canonical id of its query`() throws {
        _ = try write("c/a", by: caller("phone"))
        let listen = server.listen(label: "app")
        _ = listen.add(target(1, collection("c")))
        _ = listen.add(target(2, collection("d")))
        _ = try write("c/b", by: caller("phone"))
        let rows = server.server.meter(by: [.target, .method]).filter { $0.method == "Listen" }
        let reads = Dictionary(uniqueKeysWithValues: rows.map { ($0.target ?? "", $0.reads) })
        #expect(reads == [collection("c").canonicalID: 2, collection("d").canonicalID: 1])
    }

    @Test func `a call that asks is told what it was billed, and no other`() throws {
        #expect(
            try write("c/a", "c/b", by: caller("x")).trailers
                == ["x-tidemark-reads": "0", "x-tidemark-writes": "2", "x-tidemark-deletes": "0"])
        let query = Request.runQuery(RunQueryRequest(query: collection("c")))
        #expect(try ask(query, caller("x")).trailers["x-tidemark-reads"] == "2")
        #expect(try ask(query, server.context()).trailers.isEmpty)
        let missing = Request.getDocument(GetDocumentRequest(path: path("c/no")))
        let status = try ask(missing, caller("x"))
        #expect(status.code == .notFound)
        #expect(status.trailers["x-tidemark-reads"] == "1")
    }

    @Test func `a stream says at its end what all of it was billed`() throws {
        _ = try write("c/a", by: caller("x"))
        let heard = Heard<ListenResponse>()
        let stream = server.server.listen(caller("x")) { heard.receive($0) }
        stream.send(.add(target(1, collection("c")), labels: [:]))
        server.machine.run()
        _ = try write("c/b", by: caller("x"))
        stream.finish()
        server.machine.run()
        #expect(heard.status?.trailers["x-tidemark-reads"] == "2")

        let answers = Heard<WriteResponse>()
        let writes = server.server.write(caller("x")) { answers.receive($0) }
        writes.send(WriteRequest())
        server.machine.run()
        let token = try #require(answers.messages.last).streamToken
        writes.send(WriteRequest(streamToken: token, mutations: [set("c/d", [:]), delete("c/a")]))
        writes.finish()
        server.machine.run()
        #expect(answers.status?.trailers["x-tidemark-writes"] == "1")
        #expect(answers.status?.trailers["x-tidemark-deletes"] == "1")
    }

    @Test func `a reset begins again at nothing, and a call in between is billed by itself`() throws
    {
        _ = try write("c/a", by: caller("x"))
        server.server.resetMeter()
        #expect(server.server.meter().isEmpty)
        #expect(try write("c/a", by: caller("x")).trailers["x-tidemark-writes"] == "1")
        #expect(server.server.meter().map(\.writes) == [1])
    }

    @Test func `names past the bound are counted together, and nothing is lost`() throws {
        let request = Request.getDocument(GetDocumentRequest(path: path("c/a")))
        let count = 10_050
        for number in 0..<count {
            let heard = Heard<Reply>()
            _ = server.server.call(request, caller("client \(number)", label: "app \(number)")) {
                heard.receive($0)
            }
        }
        server.machine.run()
        let rows = server.server.meter()
        #expect(rows.count <= 10_000)
        #expect(rows.reduce(0) { $0 + $1.reads } == count)
        #expect((rows.first { $0.label == "other labels" }?.reads ?? 0) >= 50)
        let clients = server.server.meter(by: [.client])
        #expect(clients.count <= 10_000)
        #expect(clients.reduce(0) { $0 + $1.reads } == count)
    }

    @Test func `names are told apart by their bytes, and long ones stay short`() throws {
        _ = try write("c/a", by: caller("x", label: "\u{E9}"))
        _ = try write("c/a", by: caller("x", label: "e\u{301}"))
        #expect(server.server.meter().count == 2)
        server.server.resetMeter()
        let long = String(repeating: "x", count: 100_000)
        _ = try write("c/a", by: caller("x", label: long + "1"))
        _ = try write("c/a", by: caller("x", label: long + "2"))
        let rows = server.server.meter()
        #expect(rows.count == 2)
        #expect(rows.allSatisfy { $0.label.utf8.count < 600 })
    }
}
