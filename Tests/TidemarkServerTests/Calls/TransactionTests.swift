import Testing
import TidemarkModel

struct TransactionTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        try server.commit(set("c/a", ["n": .integer(1)]))
    }

    private static let expired = RPCStatus(
        .aborted, "The referenced transaction has expired or is no longer valid.")

    @Test func `a transaction commits what it read unchanged`() throws {
        let id = try server.begin()
        #expect(try server.get("c/a", at: .transaction(id)).fields == ["n": .integer(1)])
        try server.commit(set("c/a", ["n": .integer(2)]), transaction: id)
        #expect(try server.get("c/a").fields == ["n": .integer(2)])
    }

    private static let optimistic = TransactionOptions.readWrite(
        retrying: nil, concurrency: .optimistic)

    @Test func `an optimistic one whose document changed is aborted, and changes nothing`() throws {
        let id = try server.begin(Self.optimistic)
        _ = try server.get("c/a", at: .transaction(id))
        try server.commit(set("c/a", ["n": .integer(5)]))
        let refused = refusal {
            try server.commit(set("c/b", [:]), transaction: id)
        }
        #expect(refused?.code == .aborted)
        #expect(refusal { _ = try server.get("c/b") }?.code == .notFound)
        #expect(try server.replies(.rollback(id)) == [.empty])
        let again = try server.begin(.readWrite(retrying: id))
        try server.commit(set("c/b", [:]), transaction: again)
    }

    @Test func `an optimistic one that read a missing document is aborted when it appears`() throws
    {
        let id = try server.begin(Self.optimistic)
        #expect(refusal { _ = try server.get("c/b", at: .transaction(id)) }?.code == .notFound)
        try server.commit(set("c/b", [:]))
        #expect(
            refusal { try server.commit(set("c/d", [:]), transaction: id) }?.code == .aborted)
    }

    @Test func `an optimistic one that ran a query is aborted when a row joins it`() throws {
        let id = try server.begin(Self.optimistic)
        #expect(try server.ids(collection("c"), at: .transaction(id)) == ["a"])
        try server.commit(set("c/b", [:]))
        #expect(
            refusal { try server.commit(set("c/d", [:]), transaction: id) }?.code == .aborted)
        let other = try server.begin(Self.optimistic)
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
        let id = try server.begin(.readOnly(at: nil))
        server.machine.advance(.seconds(1))
        try server.commit(set("c/a", ["n": .integer(9)]))
        #expect(try server.get("c/a", at: .transaction(id)).fields == ["n": .integer(1)])
        #expect(
            refusal { try server.commit(set("c/a", [:]), transaction: id) }
                == .invalidArgument("Cannot modify entities in a read-only transaction"))
        let other = try server.begin(.readOnly(at: nil))
        try server.commit(transaction: other)
        #expect(
            refusal { _ = try server.begin(.readWrite(retrying: other)) }
                == .invalidArgument("Cannot retry a read-only transaction"))
    }

    @Test func `one that is unknown, done or idle too long is aborted with production's text`()
        throws
    {
        #expect(
            refusal { try server.commit(set("c/a", [:]), transaction: Self.unknown) }
                == Self.expired)
        #expect(
            refusal { _ = try server.get("c/a", at: .transaction(Self.unknown)) } == Self.expired)
        #expect(refusal { _ = try server.replies(.rollback(Self.unknown)) } == Self.expired)
        #expect(
            refusal { try server.commit(transaction: [1, 2]) }
                == .invalidArgument("Invalid transaction."))
        let done = try server.begin()
        try server.commit(transaction: done)
        #expect(refusal { try server.commit(transaction: done) } == Self.expired)
        #expect(refusal { _ = try server.replies(.rollback(done)) } == Self.expired)
        let idle = try server.begin()
        server.machine.advance(.seconds(121))
        #expect(refusal { try server.commit(transaction: idle) } == Self.expired)
        #expect(try server.replies(.rollback(idle)) == [.empty])
    }

    @Test func `reads keep one alive, but not for ever`() throws {
        let id = try server.begin()
        for _ in 0..<4 {
            server.machine.advance(.seconds(60))
            _ = try server.get("c/a", at: .transaction(id))
        }
        server.machine.advance(.seconds(31))
        #expect(
            refusal { _ = try server.get("c/a", at: .transaction(id)) } == Self.expired)
    }

    private static let unknown = TransactionID(repeating: 7, count: 16)

    @Test func `an expired one can be rolled back until it is forgotten`() throws {
        let id = try server.begin()
        server.machine.advance(.seconds(299))
        #expect(try server.replies(.rollback(id)) == [.empty])
        server.machine.advance(.seconds(2))
        #expect(refusal { _ = try server.replies(.rollback(id)) } == Self.expired)
    }

    @Test func `a read-only one that tried to write is no longer valid, by another code`() throws {
        let id = try server.begin(.readOnly(at: nil))
        #expect(refusal { try server.commit(set("c/a", [:]), transaction: id) } != nil)
        #expect(
            refusal { try server.commit(transaction: id) }
                == .invalidArgument(Self.expired.message))
    }

    @Test func `whatever became of a read-write one, it can be retried`() throws {
        let committed = try server.begin()
        try server.commit(transaction: committed)
        let rolledBack = try server.begin()
        _ = try server.replies(.rollback(rolledBack))
        let idle = try server.begin()
        server.machine.advance(.seconds(121))
        let old = try server.begin()
        for _ in 0..<3 {
            server.machine.advance(.seconds(100))
            _ = try? server.get("c/a", at: .transaction(old))
        }
        for id in [committed, rolledBack, idle, old, Self.unknown] {
            let retry = try server.begin(.readWrite(retrying: id))
            #expect(retry != id)
            try server.commit(transaction: retry)
        }
        #expect(
            refusal { _ = try server.begin(.readWrite(retrying: [1])) }
                == .invalidArgument("Invalid retry transaction."))
    }

    @Test func `rolling back twice is fine`() throws {
        let id = try server.begin()
        #expect(try server.replies(.rollback(id)) == [.empty])
        #expect(try server.replies(.rollback(id)) == [.empty])
    }
}
