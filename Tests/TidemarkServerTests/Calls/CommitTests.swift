import Testing
import TidemarkModel
import TidemarkServer

struct CommitTests {
    let server: TestServer

    init() throws { server = try TestServer() }

    @Test func `a document comes back as it was set, created and updated at the commit's time`()
        throws
    {
        let reply = try server.commit(set("c/a", ["n": .integer(1)]))
        let document = try server.get("c/a")
        #expect(document.fields == ["n": .integer(1)])
        #expect(document.createTime == reply.commitTime)
        #expect(document.updateTime == reply.commitTime)
        #expect(reply.results == [MutationResult(updateTime: reply.commitTime)])
    }

    @Test func `commit times increase while the clock stands or goes back`() throws {
        var last = try server.commit(set("c/a", ["n": .integer(0)])).commitTime
        for step in 1...5 {
            server.machine.advance(.seconds(-step))
            let time = try server.commit(set("c/a", ["n": .integer(Int64(step))])).commitTime
            #expect(time > last)
            last = time
        }
    }

    @Test func `a commit comes after every read time that was told`() throws {
        for step in 0..<3 {
            let read = try #require(try server.query(collection("c")).first?.readTime)
            let time = try server.commit(set("c/a", ["n": .integer(Int64(step))])).commitTime
            #expect(time > read)
        }
    }

    @Test func `an overwrite keeps the creation time, a new beginning does not`() throws {
        let first = try server.commit(set("c/a", ["n": .integer(1)])).commitTime
        try server.commit(set("c/a", ["n": .integer(2)]))
        #expect(try server.get("c/a").createTime == first)
        try server.commit(delete("c/a"))
        let again = try server.commit(set("c/a", ["n": .integer(2)])).commitTime
        #expect(try server.get("c/a").createTime == again)
    }

    @Test func `a write that changes nothing returns the old version, at a new commit time`() throws
    {
        let first = try server.commit(set("c/a", ["n": .integer(1)]))
        let second = try server.commit(set("c/a", ["n": .integer(1)]))
        #expect(second.commitTime > first.commitTime)
        #expect(second.results == [MutationResult(updateTime: first.commitTime)])
        #expect(try server.get("c/a").updateTime == first.commitTime)
    }

    @Test func `several writes to one document see each other and make one version`() throws {
        let increment = Mutation(
            path: path("c/a"), .patch([:], mask: []),
            transforms: [FieldTransform(FieldPath(unchecked: ["n"]), .increment(.integer(1)))])
        let reply = try server.commit(increment, increment)
        #expect(try server.get("c/a").fields == ["n": .integer(2)])
        #expect(reply.results.map(\.transformResults) == [[.integer(1)], [.integer(2)]])
        #expect(reply.results.map(\.updateTime) == [reply.commitTime, reply.commitTime])
    }

    @Test func `a server timestamp is the same everywhere in a commit, in milliseconds`() throws {
        server.machine.advance(.microseconds(1_234_567))
        func stamp(_ text: String) -> Mutation {
            Mutation(
                path: path(text), .set([:]),
                transforms: [FieldTransform(FieldPath(unchecked: ["at"]), .serverTimestamp)])
        }
        try server.commit(stamp("c/a"), stamp("c/b"))
        let time = try server.get("c/a").fields["at"]
        #expect(time == .timestamp(Timestamp(milliseconds: 1_700_000_001_234)))
        #expect(try server.get("c/b").fields["at"] == time)
    }

    @Test func `a deleted document has no version, and deleting it again succeeds later`() throws {
        try server.commit(set("c/a", [:]))
        let first = try server.commit(delete("c/a"))
        let second = try server.commit(delete("c/a"))
        #expect(first.results == [MutationResult(updateTime: nil)])
        #expect(second.commitTime > first.commitTime)
    }

    @Test func `a failed precondition changes nothing of its commit`() throws {
        let refused = refusal {
            try server.commit(set("c/a", [:]), set("c/b", [:], .exists(true)))
        }
        #expect(
            refused
                == RPCStatus(
                    .notFound,
                    "No document to update: projects/test/databases/(default)/documents/c/b"))
        #expect(refusal { _ = try server.get("c/a") }?.code == .notFound)
    }

    @Test func `preconditions are refused with production's codes and texts`() throws {
        let first = try server.commit(set("c/a", ["n": .integer(1)])).commitTime
        let second = try server.commit(set("c/a", ["n": .integer(2)])).commitTime
        let name = "projects/test/databases/(default)/documents/c/a"
        #expect(
            refusal { try server.commit(set("c/a", [:], .exists(false))) }
                == RPCStatus(.alreadyExists, "Document already exists: \(name)"))
        #expect(
            refusal { try server.commit(set("c/a", [:], .updateTime(first))) }
                == RPCStatus(
                    .failedPrecondition,
                    "the stored version (\(second.microseconds)) does not match the required base "
                        + "version (\(first.microseconds))"))
        let future = second.advanced(by: .seconds(100))
        #expect(
            refusal { try server.commit(delete("c/a", .updateTime(future))) }?.code
                == .invalidArgument)
        let verify = Mutation(path: path("c/a"), .verify, precondition: .updateTime(second))
        #expect(try server.commit(verify).results == [MutationResult(updateTime: second)])
        #expect(try server.get("c/a").updateTime == second)
    }

    @Test func `a bad mutation is refused with a sentence and the server goes on`() throws {
        let nested = Value.array([.array([])])
        let refused = refusal { try server.commit(set("c/a", ["v": nested])) }
        #expect(refused?.code == .invalidArgument)
        #expect(refused?.message.isEmpty == false)
        try server.commit(set("c/a", [:]))
    }

    @Test func `a document over the size limit is refused`() throws {
        let half = Value.string(String(repeating: "x", count: 600_000))
        try server.commit(set("c/a", ["one": half]))
        let patch = Mutation(
            path: path("c/a"), .patch(["two": half], mask: [FieldPath(unchecked: ["two"])]))
        #expect(refusal { try server.commit(patch) }?.code == .invalidArgument)
        #expect(try server.get("c/a").fields.count == 1)
    }

    @Test func `a batch write does each write by itself`() throws {
        let request = BatchWriteRequest(mutations: [
            set("c/a", [:]), set("c/b", [:], .exists(true)), set("c/d", [:]),
        ])
        guard case .batchWrite(let results)? = try server.replies(.batchWrite(request)).first else {
            Issue.record("no reply")
            return
        }
        #expect(results.map(\.status.code) == [.ok, .notFound, .ok])
        #expect(try server.ids(collection("c")) == ["a", "d"])
        let twice = BatchWriteRequest(mutations: [set("c/a", [:]), delete("c/a")])
        #expect(
            refusal { _ = try server.replies(.batchWrite(twice)) }?.code == .invalidArgument)
    }

    @Test func `documents are created, updated and deleted one by one`() throws {
        func create(_ id: String?) throws -> Document? {
            let request = CreateDocumentRequest(
                collection: CollectionPath(unchecked: "c"), documentID: id,
                fields: ["n": .integer(1), "m": .integer(2)],
                mask: [FieldPath(unchecked: ["n"])])
            if case .document(let document)? = try server.replies(.createDocument(request)).first {
                return document
            }
            return nil
        }
        let named = try create("a")
        #expect(named?.fields == ["n": .integer(1)])
        #expect(refusal { _ = try create("a") }?.code == .alreadyExists)
        #expect(refusal { _ = try create("x/y") }?.code == .invalidArgument)
        let unnamed = try create(nil)
        #expect(unnamed?.path.id.utf8.count == 20)
        let update = UpdateDocumentRequest(
            path: path("c/a"), fields: ["n": .integer(5)],
            updateMask: [FieldPath(unchecked: ["n"])])
        _ = try server.replies(.updateDocument(update))
        #expect(try server.get("c/a").fields == ["n": .integer(5), "m": .integer(2)])
        _ = try server.replies(.deleteDocument(path("c/a"), .none))
        #expect(refusal { _ = try server.get("c/a") }?.code == .notFound)
    }

    @Test func `databases do not see each other`() throws {
        try server.commit(set("c/a", [:]))
        let other = CallContext(database: try DatabaseID(project: "test", database: "other"))
        let heard = Heard<Reply>()
        let request = GetDocumentRequest(path: path("c/a"))
        _ = server.server.call(.getDocument(request), other) { heard.receive($0) }
        server.machine.run()
        #expect(heard.status?.code == .notFound)
    }
}
