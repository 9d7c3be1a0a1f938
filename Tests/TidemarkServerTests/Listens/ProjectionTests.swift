import Testing
import TidemarkModel

/// Clients listen to some of the fields only.
struct ProjectionTests {
    let server: TestServer

    init() throws {
        server = try TestServer()
        try server.commit(
            set("c/a", ["n": .integer(1), "text": .string("long")]),
            set("c/b", ["n": .integer(2), "text": .string("long")]))
    }

    private var numbers: Query {
        var query = collection("c")
        query.projection = [FieldPath(unchecked: ["n"])]
        return query
    }

    /// Returns the text of ``brief(_:)`` with the names of each document's fields.
    private func told(_ responses: [ListenResponse]) -> [String] {
        responses.map { response in
            let text = brief([response])[0]
            guard case .documentChange(let change) = response else { return text }
            return text + " (" + change.document.fields.map(\.key).joined(separator: ",") + ")"
        }
    }

    @Test func `the first answer has the fields it names`() {
        #expect(
            told(server.listen().add(target(1, numbers)))
                == ["ADD 1", "a+1 (n)", "b+1 (n)", "CURRENT 1", "|"])
        var names = collection("c")
        names.projection = [.documentID]
        #expect(told(server.listen().add(target(1, names)))[1] == "a+1 ()")
    }

    @Test func `so have changes, and a change of another field is sent too`() throws {
        let listen = server.listen()
        let document = server.listen()
        let first = listen.add(target(1, numbers))
        _ = document.add(target(1, collection("c")))
        try server.commit(set("c/a", ["n": .integer(1), "text": .string("other")]))
        let told = listen.take()
        #expect(self.told(told) == ["a+1 (n)", "|"])
        #expect(self.told(document.take()) == ["a+1 (n,text)", "|"])
        guard case .documentChange(let before) = first[1],
            case .documentChange(let after) = told[0]
        else {
            Issue.record("no changes: \(brief(first)) \(brief(told))")
            return
        }
        #expect(before.document.contents == after.document.contents)
        #expect(before.document.updateTime < after.document.updateTime)
    }

    @Test func `a document that leaves comes with the fields, too`() throws {
        var small = numbers
        small.filter = .field(FieldPath(unchecked: ["n"]), .lessThan, .integer(5))
        let listen = server.listen()
        _ = listen.add(target(1, small))
        try server.commit(set("c/a", ["n": .integer(9), "text": .string("x")]))
        #expect(told(listen.take()) == ["a-1 (n)", "|"])
        try server.commit(delete("c/b"))
        #expect(told(listen.take()) == ["b deleted-1", "|"])
    }

    @Test func `targets of one stream that want other fields get messages of their own`() throws {
        let listen = server.listen()
        _ = listen.add(target(1, numbers))
        _ = listen.add(target(2, collection("c")))
        _ = listen.add(target(3, numbers))
        try server.commit(set("c/a", ["n": .integer(7), "text": .string("x")]))
        #expect(told(listen.take()) == ["a+1+3 (n)", "a+2 (n,text)", "|"])
        try server.commit(delete("c/a"))
        #expect(told(listen.take()) == ["a deleted-1-2-3", "|"])
    }

    @Test func `windows and resumes have the fields, too`() throws {
        var top = numbers
        top.limit = .first(1)
        let listen = server.listen()
        let first = listen.add(target(1, top))
        #expect(told(first)[1] == "a+1 (n)")
        try server.commit(delete("c/a"))
        #expect(told(listen.take()).contains("b+1 (n)"))
        let window = server.listen().add(target(1, top, from: .token(token(first))))
        #expect(told(window).contains("b+1 (n)"))
        let whole = server.listen().add(target(1, numbers))
        try server.commit(set("c/b", ["n": .integer(3), "text": .string("x")]))
        let resumed = server.listen().add(target(1, numbers, from: .token(token(whole))))
        #expect(told(resumed).contains("b+1 (n)"))
    }
}
