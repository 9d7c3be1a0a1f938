import Testing
import TidemarkModel
import TidemarkServer

/// Some calls wait for the locks of transactions, and others do not. The tests use one thread and
/// virtual time.
struct LockTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        try server.commit(set("c/a", ["n": .integer(1)]))
    }

    /// Returns a transaction that has read the document.
    private func reader(_ path: String = "c/a") throws -> TransactionID {
        let id = try server.begin()
        _ = try? server.get(path, at: .transaction(id))
        return id
    }

    private func startGet(_ text: String, _ id: TransactionID) -> TestCall {
        server.start(
            .getDocument(GetDocumentRequest(path: path(text), consistency: .transaction(id))))
    }

    private func n(_ text: String) throws -> Value? { try server.get(text).fields["n"] }

    private static let contention = RPCStatus(
        .aborted, "Too much contention on these documents. Please try again.")

    // MARK: Documents

    @Test func `a plain write to a document that was read waits for the readers to end`() throws {
        let first = try reader()
        let second = try reader()
        let write = server.startCommit(set("c/a", ["n": .integer(2)]))
        #expect(write.status == nil)
        #expect(try n("c/a") == .integer(1), "a read outside never waits")
        try server.commit(transaction: first)
        #expect(write.status == nil)
        _ = try server.replies(.rollback(second))
        #expect(write.status == .ok)
        #expect(try n("c/a") == .integer(2))
    }

    @Test func `a missing document is locked too`() throws {
        let id = try reader("c/none")
        let create = server.start(
            .createDocument(
                CreateDocumentRequest(
                    collection: CollectionPath(unchecked: "c"), documentID: "none", fields: [:])))
        #expect(create.status == nil)
        try server.commit(set("c/none", ["n": .integer(1)]), transaction: id)
        #expect(create.status?.code == .alreadyExists)
    }

    @Test func `every kind of write waits`() throws {
        let id = try reader()
        let writes = [
            server.startCommit(set("c/b", [:]), set("c/a", [:])),
            server.start(
                .updateDocument(UpdateDocumentRequest(path: path("c/a"), fields: ["x": .null]))),
            server.start(.deleteDocument(path("c/a"), .none)),
        ]
        #expect(writes.allSatisfy { $0.status == nil })
        #expect(refusal { _ = try server.get("c/b") }?.code == .notFound, "all or nothing")
        try server.commit(transaction: id)
        #expect(writes.allSatisfy { $0.status == .ok })
        #expect(refusal { _ = try server.get("c/a") }?.code == .notFound, "in the order they came")
    }

    @Test func `other documents and their readers never wait`() throws {
        let id = try reader()
        let write = server.startCommit(set("c/a", [:]))
        try server.commit(set("c/b", [:]))
        let other = try server.begin()
        _ = try server.get("c/b", at: .transaction(other))
        let readOnly = try server.begin(.readOnly(at: nil))
        #expect(try server.get("c/a", at: .transaction(readOnly)).fields["n"] == .integer(1))
        #expect(try server.ids(collection("c")) == ["a", "b"])
        #expect(write.status == nil)
        try server.commit(transaction: id)
        #expect(write.status == .ok)
    }

    @Test func `a check that writes nothing waits for nobody`() throws {
        let id = try reader()
        let verify = Mutation(path: path("c/a"), .verify, precondition: .exists(true))
        try server.commit(verify)
        try server.commit(transaction: id)
    }

    // MARK: The queue

    @Test func `a read behind a writer that waits, waits too`() throws {
        let first = try reader()
        let write = server.startCommit(set("c/a", ["n": .integer(2)]))
        let second = try server.begin()
        let read = startGet("c/a", second)
        #expect(read.status == nil)
        try server.commit(transaction: first)
        #expect(write.status == .ok)
        guard case .document(let document)? = read.replies.first else {
            Issue.record("no document")
            return
        }
        #expect(document.fields["n"] == .integer(2))
        // The read has locked the document.
        let later = server.startCommit(set("c/a", ["n": .integer(3)]))
        #expect(later.status == nil)
        try server.commit(transaction: second)
        #expect(later.status == .ok)
    }

    @Test func `whoever has the lock reads again without waiting`() throws {
        let id = try reader()
        let write = server.startCommit(set("c/a", [:]))
        #expect(startGet("c/a", id).status == .ok)
        #expect(try server.ids(collection("c"), at: .transaction(id)) == ["a"])
        #expect(write.status == nil)
        try server.commit(transaction: id)
        #expect(write.status == .ok)
    }

    @Test func `a writer that waits for the reader is passed`() throws {
        let id = try reader()
        let write = server.startCommit(set("c/a", [:]), set("c/b", [:]))
        // The read passes the write. The write waits for this transaction, so otherwise both would
        // wait forever.
        #expect(startGet("c/b", id).status?.code == .notFound)
        #expect(write.status == nil)
        try server.commit(transaction: id)
        #expect(write.status == .ok)
    }

    @Test func `a writer that waits for the reader by way of others is passed`() throws {
        let first = try reader("c/a")
        let second = try reader("c/d")
        let write = server.startCommit(set("c/a", [:]), set("c/b", [:]))
        let read = startGet("c/b", second)
        #expect(read.status == nil)
        // The first transaction now waits for the second. The second waits behind the write, which
        // waits for the first.
        let commit = server.startCommit(set("c/d", [:]), transaction: first)
        #expect(read.status?.code == .notFound, "passed the write")
        #expect(commit.status == nil)
        try server.commit(transaction: second)
        #expect(commit.status == .ok)
        #expect(write.status == .ok)
    }

    @Test func `writers of one document go in the order they came`() throws {
        let id = try reader()
        let writes = (0..<5).map { server.startCommit(set("c/a", ["n": .integer($0)])) }
        try server.commit(transaction: id)
        #expect(writes.allSatisfy { $0.status == .ok })
        #expect(try n("c/a") == .integer(4))
    }

    @Test func `two creates that wait have one winner, the first`() throws {
        let id = try reader("c/b")
        let creates = (0..<2).map {
            server.startCommit(set("c/b", ["n": .integer($0)], .exists(false)))
        }
        _ = try server.replies(.rollback(id))
        #expect(creates.map { $0.status?.code } == [.ok, .alreadyExists])
        #expect(try n("c/b") == .integer(0))
    }

    @Test func `a call that begins a transaction waits inside it`() throws {
        let first = try reader()
        let write = server.startCommit(set("c/a", ["n": .integer(2)]))
        let options = TransactionOptions.readWrite(retrying: nil)
        let query = server.start(
            .runQuery(
                RunQueryRequest(query: collection("c"), consistency: .newTransaction(options))))
        #expect(query.status == nil)
        try server.commit(transaction: first)
        #expect(write.status == .ok)
        guard case .runQuery(let reply)? = query.replies.first, let id = reply.transaction else {
            Issue.record("no transaction")
            return
        }
        #expect(reply.document == nil)
        #expect(query.replies.count == 2)
        let later = server.startCommit(set("c/a", [:]))
        #expect(later.status == nil)
        try server.commit(transaction: id)
        #expect(later.status == .ok)
    }

    @Test func `a query that is refused leaves no transaction and no locks behind`() throws {
        let bad = Query(
            collectionID: "c", filter: .field(FieldPath(unchecked: ["n"]), .isIn, .array([])))
        let options = TransactionOptions.readWrite(retrying: nil)
        #expect(
            refusal { _ = try server.query(bad, at: .newTransaction(options)) }?.code
                == .invalidArgument)
        try server.commit(set("c/a", [:]))
    }

    // MARK: Time

    @Test func `a wait ends after the lock timeout, and the next in the queue goes on`() throws {
        let id = try reader()
        let write = server.startCommit(set("c/a", ["n": .integer(2)]))
        server.machine.advance(.seconds(14))
        let second = try server.begin()
        let read = startGet("c/a", second)
        #expect(write.status == nil && read.status == nil)
        server.machine.advance(.seconds(1))
        #expect(write.status == Self.contention)
        #expect(read.status == .ok, "the writer before it is gone")
        try server.commit(set("c/b", [:]), transaction: id)
        #expect(try n("c/a") == .integer(1))
    }

    @Test func `a commit that has waited too long ends its transaction`() throws {
        let other = try reader()
        let id = try reader()
        _ = try server.get("c/a", at: .transaction(id))
        _ = try? server.get("c/mine", at: .transaction(id))
        let commit = server.startCommit(set("c/a", [:]), transaction: id)
        server.machine.advance(.seconds(5))
        let behind = server.startCommit(set("c/mine", [:]))
        server.machine.advance(.seconds(10))
        #expect(commit.status == Self.contention)
        #expect(behind.status == .ok, "its locks are free")
        #expect(try server.replies(.rollback(id)) == [.empty])
        try server.commit(transaction: other)
    }

    @Test func `the time a transaction may be idle ends by itself`() throws {
        let server = try TestServer(lockTimeout: .seconds(1_000))
        let id = try server.begin()
        _ = try? server.get("c/a", at: .transaction(id))
        let write = server.startCommit(set("c/a", [:]))
        server.machine.advance(.seconds(119))
        #expect(write.status == nil)
        server.machine.advance(.seconds(2))
        #expect(write.status == .ok, "nobody asked for the transaction again")
    }

    @Test func `a transaction in use ends by itself too, when it gets too old`() throws {
        let server = try TestServer(lockTimeout: .seconds(1_000))
        let id = try server.begin()
        _ = try? server.get("c/a", at: .transaction(id))
        let write = server.startCommit(set("c/a", [:]))
        for _ in 0..<11 {
            server.machine.advance(.seconds(24))
            _ = try? server.get("c/a", at: .transaction(id))
        }
        #expect(write.status == nil)
        server.machine.advance(.seconds(7))
        #expect(write.status == .ok)
    }

    @Test func `whoever waits is not idle`() throws {
        let server = try TestServer(lockTimeout: .seconds(200))
        let first = try server.begin()
        _ = try? server.get("c/a", at: .transaction(first))
        let second = try server.begin()
        let commit = server.startCommit(set("c/a", [:]), transaction: second)
        for _ in 0..<3 {
            server.machine.advance(.seconds(50))
            _ = try? server.get("c/a", at: .transaction(first))
        }
        try server.commit(transaction: first)
        #expect(commit.status == .ok)
    }

    // MARK: Ends from outside

    @Test func `a call that is cancelled leaves the queue at once`() throws {
        let id = try reader()
        let write = server.startCommit(set("c/a", ["n": .integer(2)]))
        let second = try server.begin()
        let read = startGet("c/a", second)
        #expect(read.status == nil)
        write.cancel()
        #expect(write.status?.code == .cancelled)
        #expect(read.status == .ok)
        try server.commit(transaction: id)
        try server.commit(transaction: second)
        #expect(try n("c/a") == .integer(1), "what was cancelled was not performed")
    }

    @Test func `a read that is cancelled as it begins a transaction leaves no locks`() throws {
        let id = try reader()
        let write = server.startCommit(set("c/a", [:]))
        let options = TransactionOptions.readWrite(retrying: nil)
        let query = server.start(
            .runQuery(
                RunQueryRequest(query: collection("c"), consistency: .newTransaction(options))))
        query.cancel()
        try server.commit(transaction: id)
        #expect(write.status == .ok)
        try server.commit(set("c/a", ["n": .integer(5)]))
    }

    @Test func `clearing a database ends its transactions and lets those that wait go on`() throws {
        let id = try reader()
        let write = server.startCommit(set("c/a", ["n": .integer(2)]))
        let second = try server.begin()
        let read = startGet("c/a", second)
        let heard = Heard<Reply>()
        server.server.clear(server.database) { heard.receive(.ended($0 ?? .ok)) }
        server.machine.run()
        #expect(heard.status == .ok)
        #expect(write.status == .ok)
        #expect(read.status?.code == .aborted)
        #expect(refusal { try server.commit(transaction: id) }?.code == .aborted)
        #expect(try n("c/a") == .integer(2))
    }

    @Test func `a server that closes tells those that wait`() throws {
        _ = try reader()
        let write = server.startCommit(set("c/a", [:]))
        let second = try server.begin()
        let read = startGet("c/a", second)
        let batch = server.start(.batchWrite(BatchWriteRequest(mutations: [set("c/a", [:])])))
        server.server.close()
        #expect(
            [write, read, batch].map { $0.status?.code }
                == [.unavailable, .unavailable, .unavailable])
    }
}
