import Testing
import TidemarkModel

/// Transactions wait for each other. Source: server-production-facts 6.
struct DeadlockTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        try server.commit(set("c/a", ["n": .integer(1)]), set("c/b", ["n": .integer(1)]))
    }

    static let deadlock = RPCStatus(
        .aborted,
        "Aborted due to cross-transaction contention. This occurs when multiple transactions "
            + "attempt to access the same data, requiring Firestore to abort at least one in order "
            + "to enforce serializability.")

    private func startCommit(_ id: TransactionID, _ text: String = "c/a") -> TestCall {
        server.startCommit(set(text, ["by": .bytes(id)]), transaction: id)
    }

    /// Returns two transactions that have read the same document, the older first.
    private func readers(
        _ text: String = "c/a", olderReadsFirst: Bool
    ) throws -> (older: TransactionID, younger: TransactionID) {
        let older = try server.begin()
        let younger = try server.begin()
        for id in olderReadsFirst ? [older, younger] : [younger, older] {
            _ = try server.get(text, at: .transaction(id))
        }
        return (older, younger)
    }

    @Test(arguments: [true, false])
    func `the younger commits first and waits, the older commits at once`(
        olderReadsFirst: Bool
    ) throws {
        let (older, younger) = try readers(olderReadsFirst: olderReadsFirst)
        let first = startCommit(younger)
        #expect(first.status == nil)
        let second = startCommit(older)
        #expect(second.status == .ok)
        #expect(first.status == Self.deadlock)
        #expect(try server.get("c/a").fields["by"] == .bytes(older))
    }

    @Test(arguments: [true, false])
    func `the older commits first and waits, the younger is aborted and frees it`(
        olderReadsFirst: Bool
    ) throws {
        let (older, younger) = try readers(olderReadsFirst: olderReadsFirst)
        let first = startCommit(older)
        #expect(first.status == nil)
        let second = startCommit(younger)
        #expect(second.status == Self.deadlock)
        #expect(first.status == .ok)
        #expect(try server.get("c/a").fields["by"] == .bytes(older))
    }

    @Test func `a victim is over: it can be rolled back and retried, not committed`() throws {
        let (older, younger) = try readers(olderReadsFirst: true)
        _ = startCommit(older)
        #expect(startCommit(younger).status == Self.deadlock)
        #expect(refusal { try server.commit(transaction: younger) }?.code == .aborted)
        #expect(try server.replies(.rollback(younger)) == [.empty])
        let retry = try server.begin(.readWrite(retrying: younger))
        _ = try server.get("c/a", at: .transaction(retry))
        #expect(startCommit(retry).status == .ok)
    }

    @Test func `across two documents`() throws {
        let older = try server.begin()
        let younger = try server.begin()
        _ = try server.get("c/a", at: .transaction(older))
        _ = try server.get("c/b", at: .transaction(younger))
        let first = startCommit(older, "c/b")
        #expect(first.status == nil)
        #expect(startCommit(younger, "c/a").status == Self.deadlock)
        #expect(first.status == .ok)
    }

    @Test func `among three, the youngest goes`() throws {
        let ids = try (0..<3).map { _ in try server.begin() }
        for (id, name) in zip(ids, ["c/a", "c/b", "c/d"]) {
            _ = try? server.get(name, at: .transaction(id))
        }
        let youngest = startCommit(ids[2], "c/a")
        let oldest = startCommit(ids[0], "c/b")
        #expect(youngest.status == nil && oldest.status == nil)
        let middle = startCommit(ids[1], "c/d")
        #expect(youngest.status == Self.deadlock)
        #expect(middle.status == .ok)
        #expect(oldest.status == .ok)
    }

    @Test func `a retry has the age of the first attempt`() throws {
        let first = try server.begin()
        let other = try server.begin()
        _ = try server.replies(.rollback(first))
        // The retry began later than `other`, but its first attempt began earlier.
        let retry = try server.begin(.readWrite(retrying: first))
        let again = try server.begin(.readWrite(retrying: retry))
        for id in [other, again] { _ = try server.get("c/a", at: .transaction(id)) }
        let commit = startCommit(other)
        #expect(commit.status == nil)
        #expect(startCommit(again).status == .ok)
        #expect(commit.status == Self.deadlock)
    }

    @Test func `retrying one that is still open leaves it open`() throws {
        let first = try server.begin()
        _ = try server.get("c/a", at: .transaction(first))
        // The retry has the age of the first, so the earlier begin decides which transaction wins.
        let retry = try server.begin(.readWrite(retrying: first))
        _ = try server.get("c/a", at: .transaction(retry))
        let commit = startCommit(retry)
        #expect(commit.status == nil)
        #expect(startCommit(first).status == .ok)
        #expect(commit.status == Self.deadlock)
    }

    @Test func `writes to other documents pass`() throws {
        let (older, younger) = try readers(olderReadsFirst: true)
        _ = startCommit(older)
        try server.commit(set("c/b", [:]))
        _ = try server.get("c/b", at: .transaction(younger))
        let elsewhere = startCommit(younger, "c/other")
        #expect(elsewhere.status == .ok)
    }

    @Test func `a plain write is never a victim, and gets its turn`() throws {
        let (older, younger) = try readers(olderReadsFirst: true)
        let plain = server.startCommit(set("c/a", ["n": .integer(9)]))
        let first = startCommit(older)
        #expect(first.status == nil, "waits for the younger only, not behind the plain write")
        _ = try server.replies(.rollback(younger))
        #expect(first.status == .ok)
        #expect(plain.status == .ok)
        #expect(try server.get("c/a").fields["n"] == .integer(9))
    }
}
