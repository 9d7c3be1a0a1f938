import Testing
import TidemarkModel
import TidemarkServer

struct ListenTests {
    let server: TestServer

    init() throws { server = try TestServer.withThree() }

    private var top2: Query {
        var query = collection("c")
        query.orders = [Order(FieldPath(unchecked: ["n"]), .descending)]
        query.limit = .first(2)
        return query
    }

    private var even: Query {
        var query = collection("c")
        query.filter = .field(FieldPath(unchecked: ["even"]), .equal, .boolean(true))
        return query
    }

    @Test func `a fresh target gets its matches in order, CURRENT and a boundary`() {
        let responses = server.listen().add(target(1, collection("c")))
        #expect(brief(responses) == ["ADD 1", "a+1", "b+1", "d+1", "CURRENT 1", "|"])
        guard case .targetChange(let current) = responses[4],
            case .targetChange(let boundary) = responses[5]
        else {
            Issue.record("no CURRENT and boundary: \(brief(responses))")
            return
        }
        #expect(!current.resumeToken.isEmpty)
        #expect(current.readTime == boundary.readTime)
        #expect(boundary.readTime != nil)
    }

    @Test func `an empty one gets ADD, CURRENT and a boundary`() {
        #expect(
            brief(server.listen().add(target(1, collection("none")))) == [
                "ADD 1", "CURRENT 1", "|",
            ])
    }

    @Test func `targets of half a million documents are refused, and others are not`() throws {
        let listen = server.listen()
        let paths = (0..<500_002).map { path("many/\($0)") }
        #expect(brief(listen.add(ListenTarget(id: 1, .documents(paths)))) == ["REMOVE 1 cause 8"])
        let one = listen.add(ListenTarget(id: 2, .documents([path("c/a")])))
        #expect(brief(one) == ["ADD 2", "a+2", "CURRENT 2", "|"])
    }

    @Test func `each commit is one step for all targets of the stream`() throws {
        let listen = server.listen()
        _ = listen.add(target(1, collection("c")))
        _ = listen.add(target(2, even))
        try server.commit(
            set("c/e", ["even": .boolean(true)]), set("c/a", ["n": .integer(9)]))
        #expect(brief(listen.take()) == ["e+1+2", "a+1", "|"])
        try server.commit(set("c/e", ["even": .boolean(false)]))
        #expect(brief(listen.take()) == ["e+1-2", "|"])
        try server.commit(delete("c/a"))
        #expect(brief(listen.take()) == ["a deleted-1", "|"])
    }

    @Test func `two commits are two steps`() throws {
        let listen = server.listen()
        _ = listen.add(target(1, collection("c")))
        try server.commit(set("c/e", [:]))
        try server.commit(set("c/f", [:]))
        let responses = listen.take()
        #expect(brief(responses) == ["e+1", "|", "f+1", "|"])
        let times = responses.compactMap { response -> Timestamp? in
            if case .targetChange(let change) = response { change.readTime } else { nil }
        }
        #expect(times.count == 2 && times[0] < times[1])
    }

    @Test func `commits elsewhere and writes that change nothing are silent`() throws {
        let listen = server.listen()
        _ = listen.add(target(1, collection("c")))
        try server.commit(set("other/a", [:]))
        try server.commit(set("c/a", ["n": .integer(1)]))
        try server.commit(Mutation(path: path("c/a"), .verify, precondition: .exists(true)))
        #expect(listen.take().isEmpty)
    }

    @Test func `a document pushed out of a limit is removed in the same step`() throws {
        let listen = server.listen()
        #expect(brief(listen.add(target(1, top2))) == ["ADD 1", "d+1", "b+1", "CURRENT 1", "|"])
        try server.commit(set("c/e", ["n": .integer(7)]))
        #expect(brief(listen.take()) == ["b removed-1", "e+1", "|"])
        try server.commit(delete("c/e"))
        #expect(brief(listen.take()) == ["e deleted-1", "b+1", "|"])
        try server.commit(set("c/d", ["n": .integer(0)]))
        #expect(brief(listen.take()) == ["d-1", "a+1", "|"])
        try server.commit(set("c/z", ["n": .integer(-1)]))
        #expect(listen.take().isEmpty)
    }

    @Test func `watched documents are told to be there or not`() throws {
        let listen = server.listen()
        let wanted = ListenTarget(id: 1, .documents([path("c/a"), path("c/none")]))
        #expect(
            brief(listen.add(wanted)) == ["ADD 1", "a+1", "none deleted-1", "CURRENT 1", "|"])
        try server.commit(set("c/none", [:]), delete("c/a"), set("c/b", [:]))
        #expect(brief(listen.take()) == ["none+1", "a deleted-1", "|"])
    }

    @Test func `groups see every collection of their id`() throws {
        let listen = server.listen()
        let group = Query(collectionID: "sub", allDescendants: true)
        _ = listen.add(target(1, group))
        try server.commit(set("c/a/sub/x", [:]), set("sub/y", [:]), set("subs/z", [:]))
        #expect(brief(listen.take()) == ["x+1", "y+1", "|"])
    }

    @Test func `a removed target is told once and hears no more`() throws {
        let listen = server.listen()
        _ = listen.add(target(1, collection("c")))
        #expect(brief(listen.remove(1)) == ["REMOVE 1"])
        try server.commit(set("c/e", [:]))
        #expect(listen.take().isEmpty)
        #expect(brief(listen.add(target(1, even))) == ["ADD 1", "CURRENT 1", "|"])
    }

    @Test func `once ends after the boundary`() throws {
        let listen = server.listen()
        #expect(
            brief(listen.add(target(1, collection("c"), once: true))) == [
                "ADD 1", "a+1", "b+1", "d+1", "CURRENT 1", "|", "REMOVE 1",
            ])
        try server.commit(set("c/e", [:]))
        #expect(listen.take().isEmpty)
    }

    @Test func `an id that is taken is refused, and the target under it goes on`() throws {
        let listen = server.listen()
        _ = listen.add(target(1, collection("c")))
        let responses = listen.add(target(1, even))
        #expect(brief(responses) == ["REMOVE 1 cause 6"])
        try server.commit(set("c/e", [:]))
        #expect(brief(listen.take()) == ["e+1", "|"])
    }

    @Test func `a bad query ends alone, with its cause`() throws {
        var bad = collection("c")
        bad.filter = .field(FieldPath(unchecked: ["n"]), .notIn, .integer(1))
        let listen = server.listen()
        #expect(brief(listen.add(target(1, bad))) == ["ADD 1", "REMOVE 1 cause 3"])
        #expect(brief(listen.add(target(2, even))) == ["ADD 2", "CURRENT 2", "|"])
    }

    @Test func `a target that could not be read ends alone, with its cause`() {
        let listen = server.listen()
        #expect(
            brief(listen.unreadable(3, .invalidArgument("bad"))) == ["ADD 3", "REMOVE 3 cause 3"])
        #expect(brief(listen.add(target(3, even))) == ["ADD 3", "CURRENT 3", "|"])
        #expect(
            brief(listen.unreadable(3, .invalidArgument("bad"))) == ["REMOVE 3 cause 6"],
            "its id is checked as any other")
    }

    @Test func `the server chooses ids for 0, and then the client must not`() {
        let listen = server.listen()
        #expect(brief(listen.add(target(0, even))) == ["ADD 1", "CURRENT 1", "|"])
        #expect(brief(listen.add(target(0, even))) == ["ADD 2", "CURRENT 2", "|"])
        _ = listen.add(target(7, even))
        #expect(listen.heard.status?.code == .invalidArgument)
        let other = server.listen()
        _ = other.add(target(-1, even))
        #expect(other.heard.status?.code == .invalidArgument)
    }

    @Test func `streams end as asked, and all of them when the server closes`() {
        let finished = server.listen()
        finished.finish()
        #expect(finished.heard.status == .ok)
        let cancelled = server.listen()
        cancelled.cancel()
        #expect(cancelled.heard.status?.code == .cancelled)
        let open = server.listen()
        _ = open.add(target(1, collection("c")))
        server.server.close()
        #expect(open.heard.status?.code == .unavailable)
        #expect(refusal { _ = try server.get("c/a") }?.code == .unavailable)
    }
}
