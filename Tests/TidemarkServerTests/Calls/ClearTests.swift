import Foundation
import Testing
import TidemarkModel
import TidemarkServer

struct ClearTests {
    private func clear(_ server: TestServer, _ database: DatabaseID? = nil) throws {
        let heard = Heard<Never>()
        server.server.clear(database ?? server.database) { heard.receive(.ended($0 ?? .ok)) }
        server.machine.run()
        #expect(heard.status == .ok)
    }

    @Test func `every document is gone, and every listen is told of each it had`() throws {
        let server = try TestServer()
        try server.commit(
            set("c/a", ["n": .integer(1)]), set("c/b", ["n": .integer(2)]), set("d/x", [:]),
            set("c/a/deep/z", [:]))
        let listen = server.listen()
        _ = listen.add(target(1, collection("c")))
        var small = collection("c")
        small.limit = .first(1)
        _ = listen.add(target(3, small))
        _ = listen.add(ListenTarget(id: 5, .documents([path("d/x"), path("d/no")])))
        try clear(server)
        let told = brief(listen.take())
        #expect(Set(told) == ["a deleted-1-3", "b deleted-1", "x deleted-5", "|"])
        #expect(told.count == 4)
        #expect(told.last == "|")
        #expect(try server.ids(collection("c")).isEmpty)
        #expect(try server.ids(Query(collectionID: "deep", allDescendants: true)).isEmpty)
        #expect(server.server.meter().allSatisfy { $0.deletes == 0 })
        // The listens continue.
        try server.commit(set("c/new", ["n": .integer(1)]))
        #expect(brief(listen.take()) == ["new+1+3", "|"])
    }

    @Test func `only one database is cleared, and an unknown one is nothing to clear`() throws {
        let server = try TestServer()
        try server.commit(set("c/a", [:]))
        try clear(server, try DatabaseID(project: "other"))
        #expect(try server.ids(collection("c")) == ["a"])
    }

    @Test func `commit times go on, and the past is too old`() throws {
        let server = try TestServer()
        let before = try server.commit(set("c/a", [:])).commitTime
        server.machine.advance(.seconds(1))
        try clear(server)
        let after = try server.commit(set("c/b", [:])).commitTime
        #expect(after > before)
        let refused = refusal { _ = try server.query(collection("c"), at: .at(before)) }
        #expect(refused?.code == .invalidArgument)
        #expect(try server.ids(collection("c"), at: .at(after)) == ["b"])
    }

    @Test func `a listen that was away converges`() throws {
        let server = try TestServer()
        try server.commit(set("c/a", [:]), set("c/b", [:]))
        let first = server.listen()
        let mark = token(first.add(target(1, collection("c"))))
        first.cancel()
        try clear(server)
        try server.commit(set("c/b", ["n": .integer(1)]))
        let told = brief(
            server.listen().add(target(1, collection("c"), from: .token(mark), expecting: 2)))
        #expect(told == ["ADD 1", "|", "b+1", "FILTER 1=1 bloom", "CURRENT 1", "|"])
    }

    @Test func `a transaction that has read finds that it changed`() throws {
        let server = try TestServer()
        try server.commit(set("c/a", [:]))
        let begin = Request.beginTransaction(.readWrite(retrying: nil, concurrency: .optimistic))
        guard case .beginTransaction(let id)? = try server.replies(begin).first else {
            Issue.record("no transaction")
            return
        }
        _ = try server.get("c/a", at: .transaction(id))
        try clear(server)
        let refused = refusal { try server.commit(set("c/b", [:]), transaction: id) }
        #expect(refused?.code == .aborted)
    }

    @Test func `what was cleared stays cleared, and repeats do not grow the file`() throws {
        func sizeAfter(rounds: Int) throws -> Int {
            let folder = try TemporaryFolder()
            let server = try TestServer(directory: folder.path)
            let writes = (0..<400).map {
                set("c/\($0)", ["t": .string(String(repeating: "x", count: 500))])
            }
            for _ in 0..<rounds {
                for _ in 0..<2 { _ = try server.replies(.commit(CommitRequest(mutations: writes))) }
                try clear(server)
            }
            // The close writes SQLite's own log into the file. That log grows up to its own limit.
            server.server.close()
            let file = folder.path + "/tidemark-server.sqlite"
            let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
            let again = try TestServer(directory: folder.path, machine: server.machine)
            #expect(try again.ids(collection("c")).isEmpty)
            try again.commit(set("c/a", [:]))
            return try #require(size)
        }
        #expect(try sizeAfter(rounds: 12) <= sizeAfter(rounds: 3) + 65_536)
    }
}
