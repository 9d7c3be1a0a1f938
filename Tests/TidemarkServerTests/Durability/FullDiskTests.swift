import Synchronization
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkServer

/// The store has reached its maximum size, which SQLite reports as a full disk.
struct FullDiskTests {
    let server: TestServer

    init() throws { server = try TestServer() }

    private func allow(morePages: Int64?) throws {
        let store = server.server.core.withLock { $0.store }
        try store.write { transaction in
            let used = try transaction.rows("PRAGMA page_count")[0].integer(0)
            let limit = morePages.map { used + $0 } ?? 1_000_000
            _ = try transaction.rows("PRAGMA max_page_count = \(limit)")
        }
    }

    @Test func `writes are refused, reads and listens go on, and room makes all well again`() throws
    {
        try server.commit(set("c/a", ["n": .integer(1)]))
        let listen = server.listen()
        _ = listen.add(target(1, collection("c")))
        let stream = Heard<WriteResponse>()
        let writer = server.server.write(server.context()) { stream.receive($0) }
        writer.send(WriteRequest())
        server.machine.run()
        try allow(morePages: 2)

        // A small and a large commit wait together and share a transaction, so both fail.
        let heard = (0..<2).map { _ in Heard<Reply>() }
        let large = String(repeating: "x", count: 500_000)
        let mutations = [set("c/b", [:]), set("c/large", ["text": .string(large)])]
        for (mutation, heard) in zip(mutations, heard) {
            let request = CommitRequest(mutations: [mutation])
            _ = server.server.call(.commit(request), server.context("full")) { heard.receive($0) }
        }
        writer.send(WriteRequest(mutations: [set("c/d", [:])]))
        server.machine.run()
        #expect(heard.map { $0.status?.code } == [.resourceExhausted, .resourceExhausted])
        #expect(heard.allSatisfy { $0.messages.isEmpty })
        #expect(stream.status?.code == .resourceExhausted)
        #expect(listen.take().isEmpty)
        #expect(try server.ids(collection("c")) == ["a"])
        #expect(server.server.meter().allSatisfy { $0.label != "full" })

        try allow(morePages: nil)
        try server.commit(set("c/b", [:]))
        #expect(brief(listen.take()) == ["b+1", "|"])
    }

    /// Returns a transaction that has read `c/a`, so writes to `c/a` wait for its end.
    private func reader() throws -> TransactionID {
        try server.commit(set("c/a", ["n": .integer(1)]))
        let id = try server.begin()
        _ = try server.get("c/a", at: .transaction(id))
        return id
    }

    private static let large = MapValue(
        [("text", Value.string(String(repeating: "x", count: 500_000)))])

    @Test func `a full disk fails nobody who still waits`() throws {
        let id = try reader()
        let waiting = server.startCommit(set("c/a", ["n": .integer(2)]))
        let stream = TestWrites(server)
        stream.open()
        _ = stream.send(set("c/a", ["n": .integer(3)]))
        try allow(morePages: 2)
        // The batch contains a commit that has to wait, a commit that fails, and a write of the
        // waiting stream.
        let heard = (0..<2).map { _ in Heard<Reply>() }
        for (mutation, heard) in zip([set("c/a", [:]), set("c/b", Self.large)], heard) {
            let request = CommitRequest(mutations: [mutation])
            _ = server.server.call(.commit(request), server.context()) { heard.receive($0) }
        }
        _ = stream.send(set("c/d", [:]))
        #expect(heard.map { $0.status?.code } == [nil, .resourceExhausted])
        #expect(waiting.status == nil)
        #expect(stream.heard.status == nil)
        try allow(morePages: nil)
        try server.commit(transaction: id)
        #expect(waiting.status == .ok && heard[0].status == .ok)
        #expect(stream.take().count == 2)
        #expect(try server.get("c/a").fields == [:])
    }

    @Test func `a transaction whose commit found the disk full keeps its locks`() throws {
        let id = try reader()
        let waiting = server.startCommit(set("c/b", [:]), set("c/a", Self.large))
        try allow(morePages: 2)
        let commit = server.startCommit(set("c/a", Self.large), transaction: id)
        #expect(commit.status?.code == .resourceExhausted)
        #expect(waiting.status == nil, "its turn had not come")
        try allow(morePages: nil)
        try server.commit(set("c/a", ["n": .integer(2)]), transaction: id)
        #expect(waiting.status == .ok)
    }

    @Test func `what was let go and found the disk full is told`() throws {
        let id = try reader()
        let first = server.startCommit(set("c/a", Self.large))
        let batch = server.start(
            .batchWrite(BatchWriteRequest(mutations: [set("c/d", [:]), set("c/a", Self.large)])))
        try allow(morePages: 2)
        _ = try server.replies(.rollback(id))
        #expect(first.status?.code == .resourceExhausted)
        guard case .batchWrite(let results)? = batch.replies.first else {
            Issue.record("no results")
            return
        }
        #expect(results.map(\.status.code) == [.ok, .resourceExhausted])
    }
}
