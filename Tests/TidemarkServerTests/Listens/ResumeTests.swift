import Testing
import TidemarkModel
import TidemarkServer

struct ResumeTests {
    let server: TestServer
    let first: [UInt8]

    init() throws {
        server = try TestServer()
        try server.commit(
            set("c/a", ["n": .integer(1)]), set("c/b", ["n": .integer(2)]),
            set("c/d", ["n": .integer(3)]))
        let listen = server.listen()
        first = token(listen.add(target(1, collection("c"))))
        listen.cancel()
        server.machine.advance(.seconds(1))
    }

    private func resume(
        _ query: Query, from resume: ListenTarget.Resume, expecting count: Int32? = nil
    ) -> [ListenResponse] {
        server.listen().add(target(1, query, from: resume, expecting: count))
    }

    @Test func `nothing changed, nothing told`() {
        #expect(
            brief(resume(collection("c"), from: .token(first), expecting: 3)) == [
                "ADD 1", "|", "CURRENT 1", "|",
            ])
    }

    @Test func `the first boundary says no more than the client knows`() {
        let responses = resume(collection("c"), from: .token(first))
        guard case .targetChange(let boundary) = responses[1] else {
            Issue.record("no boundary: \(brief(responses))")
            return
        }
        #expect(boundary.resumeToken == first)
    }

    @Test func `a quiet stream gets a token now and then, and one that is told things does not`()
        throws
    {
        let listen = server.listen()
        let first = token(listen.add(target(1, collection("c"))))
        try server.commit(set("other/x", [:]))
        #expect(listen.take().isEmpty)
        server.machine.advance(.seconds(25))
        #expect(listen.take().isEmpty)
        server.machine.advance(.seconds(70))
        let quiet = listen.take()
        #expect(brief(quiet) == ["|"])
        #expect(token(quiet) != first)
        server.machine.advance(.seconds(10))
        try server.commit(set("c/e", [:]))
        #expect(brief(listen.take()) == ["e+1", "|"])
        server.machine.advance(.seconds(30))
        #expect(listen.take().isEmpty)
        server.machine.advance(.seconds(60))
        #expect(brief(listen.take()) == ["|"])
    }

    @Test func `a stream that was quiet for longer than the log resumes by the change`() throws {
        let listen = server.listen()
        _ = listen.add(target(1, collection("c")))
        var last: [UInt8] = []
        for minute in 0..<180 {
            try server.commit(set("other/x", ["minute": .integer(Int64(minute))]))
            server.machine.advance(.seconds(60))
            let quiet = listen.take()
            if !quiet.isEmpty { last = token(quiet) }
        }
        listen.cancel()
        try server.commit(set("c/e", [:]))
        let responses = server.listen().add(
            target(1, collection("c"), from: .token(last), expecting: 3))
        #expect(brief(responses) == ["ADD 1", "|", "e+1", "CURRENT 1", "|"])
    }

    @Test func `beside others the first boundary has no token, for theirs are newer`() throws {
        let listen = server.listen()
        let newer = token(listen.add(target(2, collection("c"))))
        try server.commit(set("c/e", [:]))
        let last = token(listen.take())
        let responses = listen.add(target(1, collection("c"), from: .token(first)))
        #expect(brief(responses) == ["ADD 1", "|", "e+1", "CURRENT 1", "|"])
        guard case .targetChange(let boundary) = responses[1] else {
            Issue.record("no boundary: \(brief(responses))")
            return
        }
        #expect(boundary.resumeToken.isEmpty && boundary.readTime != nil)
        #expect(newer != last)
    }

    @Test func `a stream that is cut between commits of one batch resumes with the second`() throws
    {
        let listen = server.listen()
        _ = listen.add(target(1, collection("c")))
        for name in ["c/e", "c/f"] {
            let request = CommitRequest(mutations: [set(name, [:])])
            _ = server.server.call(.commit(request), server.context()) { _ in }
        }
        let responses = listen.take()
        #expect(brief(responses) == ["e+1", "|", "f+1", "|"])
        let between = token(Array(responses.prefix(2)))
        #expect(
            brief(resume(collection("c"), from: .token(between))) == [
                "ADD 1", "|", "f+1", "CURRENT 1", "|",
            ])
    }

    @Test func `every change and removal since the token is told, and nothing else`() throws {
        try server.commit(set("c/a", ["n": .integer(5)]), set("c/e", [:]))
        try server.commit(delete("c/b"), set("other/x", [:]))
        try server.commit(delete("c/e"), set("c/f", [:]), set("c/g", [:]))
        #expect(
            brief(resume(collection("c"), from: .token(first), expecting: 3)) == [
                "ADD 1", "|", "a+1", "b deleted-1", "f+1", "g+1", "CURRENT 1", "|",
            ])
    }

    @Test func `a document that left the query comes with its new contents`() throws {
        var small = collection("c")
        small.filter = .field(FieldPath(unchecked: ["n"]), .lessThan, .integer(3))
        try server.commit(set("c/a", ["n": .integer(50)]))
        let responses = resume(small, from: .token(first))
        #expect(brief(responses) == ["ADD 1", "|", "a-1", "CURRENT 1", "|"])
        guard case .documentChange(let change) = responses[2] else {
            Issue.record("no change: \(brief(responses))")
            return
        }
        #expect(change.document.fields == ["n": .integer(50)])
    }

    @Test func `a limit is compared as a whole`() throws {
        var top2 = collection("c")
        top2.orders = [Order(FieldPath(unchecked: ["n"]), .descending)]
        top2.limit = .first(2)
        try server.commit(set("c/e", ["n": .integer(9)]))
        try server.commit(delete("c/d"))
        #expect(
            brief(resume(top2, from: .token(first), expecting: 2)) == [
                "ADD 1", "|", "d deleted-1", "e+1", "CURRENT 1", "|",
            ])
    }

    @Test func `watched documents resume too`() throws {
        try server.commit(delete("c/a"), set("c/z", [:]))
        let wanted = ListenTarget(
            id: 1, .documents([path("c/a"), path("c/b"), path("c/z")]), resume: .token(first))
        #expect(
            brief(server.listen().add(wanted)) == [
                "ADD 1", "|", "a deleted-1", "z+1", "CURRENT 1", "|",
            ])
    }

    @Test func `a read time resumes as well`() throws {
        let before = server.machine.now
        server.machine.advance(.seconds(1))
        let reply = try server.commit(set("c/a", ["n": .integer(5)]))
        #expect(
            brief(resume(collection("c"), from: .readTime(before))) == [
                "ADD 1", "|", "a+1", "CURRENT 1", "|",
            ])
        #expect(
            brief(resume(collection("c"), from: .readTime(reply.commitTime))) == [
                "ADD 1", "|", "CURRENT 1", "|",
            ])
    }

    @Test func `a client that holds another number than it should gets a filter`() {
        #expect(
            brief(resume(collection("c"), from: .token(first), expecting: 5)) == [
                "ADD 1", "|", "FILTER 1=3 bloom", "CURRENT 1", "|",
            ])
    }

    @Test func `a token from before the log gets everything and a filter`() throws {
        server.machine.advance(.seconds(4_000))
        try server.commit(delete("c/a"))
        #expect(
            brief(resume(collection("c"), from: .token(first))).last == "|")
        server.machine.advance(.seconds(4_000))
        try server.commit(set("c/z", [:]))
        #expect(
            brief(resume(collection("c"), from: .token(first))) == [
                "ADD 1", "|", "b+1", "d+1", "z+1", "FILTER 1=3", "CURRENT 1", "|",
            ])
        let withCount = resume(collection("c"), from: .token(first), expecting: 3)
        #expect(brief(withCount)[5] == "FILTER 1=3 bloom")
        guard case .existenceFilter(let filter) = withCount[5],
            let bits = filter.unchangedNames, let bloom = BloomFilter(bits)
        else {
            Issue.record("no bloom filter")
            return
        }
        let root = "projects/test/databases/(default)/documents/"
        #expect(bloom.mightContain(root + "c/b"))
        #expect(!bloom.mightContain(root + "c/a"))
    }

    @Test func `what is no token ends the target, not the stream`() {
        let listen = server.listen()
        let responses = listen.add(target(1, collection("c"), from: .token([1, 2, 3])))
        #expect(brief(responses) == ["REMOVE 1 cause 3"])
        guard case .targetChange(let change) = responses[0] else {
            Issue.record("no end of the target: \(brief(responses))")
            return
        }
        #expect(change.cause == .invalidArgument("bad resume token"))
        #expect(listen.heard.status == nil)
        #expect(brief(listen.add(target(1, collection("c")))).first == "ADD 1")
    }

    @Test func `a token of other data gets everything and a filter`() throws {
        let machine = TestMachine()
        _ = machine.environment.randomBits()
        let other = try TestServer(machine: machine)
        try other.commit(set("c/q", [:]))
        let responses = other.listen().add(target(1, collection("c"), from: .token(first)))
        #expect(brief(responses) == ["ADD 1", "|", "q+1", "FILTER 1=1", "CURRENT 1", "|"])
    }
}
