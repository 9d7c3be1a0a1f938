import Testing
import TidemarkModel
import TidemarkServer
import TidemarkStore

struct RestartTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `documents, times and tokens survive, though the clock went back`() throws {
        let machine = TestMachine()
        var server = try TestServer(directory: folder.path, machine: machine)
        let first = try server.commit(set("c/a", ["n": .integer(1)]), set("c/b", [:]))
        let mark = token(server.listen().add(target(1, collection("c"))))
        let last = try server.commit(set("c/a", ["n": .integer(2)]), delete("c/b"))
        server.server.close()

        machine.advance(.seconds(-1_000))
        server = try TestServer(directory: folder.path, machine: machine)
        #expect(try server.get("c/a").fields == ["n": .integer(2)])
        #expect(try server.get("c/a", at: .at(first.commitTime)).fields == ["n": .integer(1)])
        #expect(
            brief(server.listen().add(target(1, collection("c"), from: .token(mark)))) == [
                "ADD 1", "|", "a+1", "b deleted-1", "CURRENT 1", "|",
            ])
        #expect(try server.commit(set("c/d", [:])).commitTime > last.commitTime)
    }

    @Test func `a file that is none is refused with a reason`() throws {
        try Array("not a database, and long enough to be looked at".utf8).write(
            to: folder.path + "/tidemark-server.sqlite")
        #expect(throws: StoreError.self) { _ = try TestServer(directory: folder.path) }
    }

    @Test func `the log goes in slices, and reads stay right while it does`() throws {
        let server = try TestServer(history: .seconds(10))
        let many = (0..<2_500).map { set("c/\($0)", [:]) }
        _ = try server.replies(.commit(CommitRequest(mutations: many)))
        let mark = token(server.listen().add(target(1, collection("one"))))
        for step in 0..<4 {
            server.machine.advance(.seconds(20))
            try server.commit(set("one/a", ["n": .integer(Int64(step))]))
        }
        let responses = server.listen().add(target(1, collection("one"), from: .token(mark)))
        #expect(brief(responses) == ["ADD 1", "|", "a+1", "FILTER 1=1", "CURRENT 1", "|"])
    }
}

struct ClockTests {
    @Test func `before the first commit the clock can be set back, whatever was read`() throws {
        let server = try TestServer()
        _ = try server.query(collection("c"))
        let past = server.machine.now.advanced(by: .seconds(-1_000_000))
        try server.server.setClock(past)
        #expect(
            try server.commit(set("c/a", [:])).commitTime == past.advanced(by: .microseconds(1)))
    }

    @Test func `the clock can be set ahead, and goes on from there`() throws {
        let server = try TestServer()
        let ahead = server.machine.now.advanced(by: .seconds(100_000))
        try server.server.setClock(ahead)
        server.machine.advance(.seconds(5))
        let reply = try server.commit(set("c/a", [:]))
        #expect(reply.commitTime == ahead.advanced(by: .seconds(5)))
        #expect(refusal { try server.server.setClock(nil) }?.code == .failedPrecondition)
        let back = reply.commitTime.advanced(by: .microseconds(-1))
        #expect(refusal { try server.server.setClock(back) }?.code == .failedPrecondition)
        server.machine.advance(.seconds(200_000))
        try server.server.setClock(nil)
        #expect(try server.commit(set("c/a", ["n": .null])).commitTime == server.machine.now)
    }
}
