import Testing
import TidemarkModel
import TidemarkServer

/// Many tasks commit concurrently on the server's own queue.
struct ConcurrencyTests {
    @Test(.timeLimit(.minutes(2)))
    func `commits that wait together are all done, once each, at times of their own`() async throws
    {
        let folder = try TemporaryFolder()
        let server = try FirestoreServer(.init(dataDirectory: folder.path))
        let context = CallContext(database: try DatabaseID(project: "test"))
        let increment = Mutation(
            path: path("c/counter"), .patch([:], mask: []),
            transforms: [FieldTransform(FieldPath(unchecked: ["n"]), .increment(.integer(1)))])
        let times = try await withThrowingTaskGroup(of: [Timestamp].self) { group in
            for writer in 0..<16 {
                group.addTask {
                    var times: [Timestamp] = []
                    for round in 0..<10 {
                        let own = set("c/\(writer)-\(round)", ["n": .integer(0)])
                        let reply = try await server.commit([increment, own], context)
                        times.append(reply.commitTime)
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(times).count == 160)
        let rows = try await server.documents(of: collection("c"), context).documents
        #expect(rows.count == 161)
        let counter = rows.first { $0.path.id == "counter" }
        #expect(counter?.fields == ["n": .integer(160)])
        server.close()
    }

    @Test(.timeLimit(.minutes(2)))
    func `a batch that holds a refused commit does the others`() throws {
        let server = try TestServer()
        let heard = (0..<3).map { _ in Heard<Reply>() }
        let mutations = [set("c/a", [:]), set("c/b", [:], .exists(true)), set("c/d", [:])]
        for (mutation, heard) in zip(mutations, heard) {
            let request = CommitRequest(mutations: [mutation])
            _ = server.server.call(.commit(request), server.context()) { heard.receive($0) }
        }
        server.machine.run()
        #expect(heard.map { $0.status?.code } == [.ok, .notFound, .ok])
        #expect(try server.ids(collection("c")) == ["a", "d"])
    }

    @Test func `large results that wait together are all told, in turns`() throws {
        let server = try TestServer()
        let writes = (0..<3_000).map { set("c/\($0)", [:]) }
        _ = try server.replies(.commit(CommitRequest(mutations: writes)))
        let heard = (0..<20).map { _ in Heard<Reply>() }
        let request = Request.runQuery(RunQueryRequest(query: collection("c")))
        for heard in heard {
            _ = server.server.call(request, server.context()) { heard.receive($0) }
        }
        server.machine.run()
        #expect(heard.allSatisfy { $0.status == .ok && $0.messages.count == 3_000 })
    }

    @Test func `a caller beyond the queue's bound is refused, the others are answered`() throws {
        let server = try TestServer()
        let heard = (0..<20_001).map { _ in Heard<Reply>() }
        let request = GetDocumentRequest(path: path("c/a"))
        for heard in heard {
            _ = server.server.call(.getDocument(request), server.context()) { heard.receive($0) }
        }
        server.machine.run()
        #expect(heard.last?.status?.code == .resourceExhausted)
        #expect(heard.dropLast().allSatisfy { $0.status?.code == .notFound })
    }
}
