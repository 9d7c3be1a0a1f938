import Synchronization
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkServer

/// A store that may grow no more: a disk that is full, as SQLite reports it.
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

        // A small and a large one wait together: they share a transaction, so neither is done.
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
}
