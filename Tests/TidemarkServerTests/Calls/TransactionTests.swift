import Testing
import TidemarkModel

struct TransactionTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        try server.commit(set("c/a", ["n": .integer(1)]))
    }

    private func begin(
        _ options: TransactionOptions = .readWrite(retrying: nil)
    ) throws -> TransactionID {
        guard
            case .beginTransaction(let id)? = try server.replies(.beginTransaction(options)).first
        else { return [] }
        return id
    }

    private static let expired = RPCStatus(
        .aborted, "The referenced transaction has expired or is no longer valid.")

    @Test func `a transaction commits what it read unchanged`() throws {
        let id = try begin()
        #expect(try server.get("c/a", at: .transaction(id)).fields == ["n": .integer(1)])
        try server.commit(set("c/a", ["n": .integer(2)]), transaction: id)
        #expect(try server.get("c/a").fields == ["n": .integer(2)])
    }

    @Test func `one whose document changed is aborted, and changes nothing`() throws {
        let id = try begin()
        _ = try server.get("c/a", at: .transaction(id))
        try server.commit(set("c/a", ["n": .integer(5)]))
        let refused = refusal {
            try server.commit(set("c/b", [:]), transaction: id)
        }
        #expect(refused?.code == .aborted)
        #expect(refusal { _ = try server.get("c/b") }?.code == .notFound)
        #expect(try server.replies(.rollback(id)) == [.empty])
        let again = try begin(.readWrite(retrying: id))
        try server.commit(set("c/b", [:]), transaction: again)
    }

    @Test func `one that read a missing document is aborted when it appears`() throws {
        let id = try begin()
        #expect(refusal { _ = try server.get("c/b", at: .transaction(id)) }?.code == .notFound)
        try server.commit(set("c/b", [:]))
        #expect(
            refusal { try server.commit(set("c/d", [:]), transaction: id) }?.code == .aborted)
    }

    @Test func `one that ran a query is aborted when a row joins it`() throws {
        let id = try begin()
        #expect(try server.ids(collection("c"), at: .transaction(id)) == ["a"])
        try server.commit(set("c/b", [:]))
        #expect(
            refusal { try server.commit(set("c/d", [:]), transaction: id) }?.code == .aborted)
        let other = try begin()
        _ = try server.ids(collection("c"), at: .transaction(other))
        try server.commit(set("elsewhere/b", [:]))
        try server.commit(set("c/d", [:]), transaction: other)
    }

    @Test func `a query may begin one, and says so first`() throws {
        let options = TransactionOptions.readWrite(retrying: nil)
        let replies = try server.query(collection("c"), at: .newTransaction(options))
        let id = try #require(replies.first?.transaction)
        #expect(replies.first?.document == nil)
        #expect(replies.count == 2)
        try server.commit(set("c/a", ["n": .integer(3)]), transaction: id)
    }

    @Test func `a read-only one sees the state it began with, and may not write`() throws {
        let id = try begin(.readOnly(at: nil))
        server.machine.advance(.seconds(1))
        try server.commit(set("c/a", ["n": .integer(9)]))
        #expect(try server.get("c/a", at: .transaction(id)).fields == ["n": .integer(1)])
        #expect(
            refusal { try server.commit(set("c/a", [:]), transaction: id) }
                == .invalidArgument("Cannot modify entities in a read-only transaction"))
        let other = try begin(.readOnly(at: nil))
        try server.commit(transaction: other)
        #expect(
            refusal { _ = try begin(.readWrite(retrying: other)) }
                == .invalidArgument("Cannot retry a read-only transaction"))
    }

    @Test func `one that is unknown, done or idle too long is aborted with production's text`()
        throws
    {
        #expect(
            refusal { try server.commit(set("c/a", [:]), transaction: [1, 2]) } == Self.expired)
        let done = try begin()
        try server.commit(transaction: done)
        #expect(refusal { try server.commit(transaction: done) } == Self.expired)
        #expect(refusal { _ = try server.replies(.rollback(done)) } == Self.expired)
        let idle = try begin()
        server.machine.advance(.seconds(121))
        #expect(refusal { try server.commit(transaction: idle) } == Self.expired)
        #expect(try server.replies(.rollback(idle)) == [.empty])
    }

    @Test func `reads keep one alive, but not for ever`() throws {
        let id = try begin()
        for _ in 0..<4 {
            server.machine.advance(.seconds(60))
            _ = try server.get("c/a", at: .transaction(id))
        }
        server.machine.advance(.seconds(31))
        #expect(
            refusal { _ = try server.get("c/a", at: .transaction(id)) } == Self.expired)
    }

    @Test func `rolling back twice is fine`() throws {
        let id = try begin()
        #expect(try server.replies(.rollback(id)) == [.empty])
        #expect(try server.replies(.rollback(id)) == [.empty])
    }
}
