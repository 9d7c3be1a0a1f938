import Testing

@testable import TidemarkModel

struct `Paths` {
    @Test func `of documents have their parts`() throws {
        let path = try DocumentPath("rooms/blue/messages/7")
        #expect(path.id == "7")
        #expect(path.collectionID == "messages")
        #expect(path.segments == ["rooms", "blue", "messages", "7"])
        #expect(path.parent.text == "rooms/blue/messages")
        #expect(path.parent.parent?.text == "rooms/blue")
        #expect(path.parent.parent?.parent.parent == nil)
        #expect(try path.collection("likes").document("x").text == "rooms/blue/messages/7/likes/x")
    }

    @Test(arguments: [
        "", "/", "a", "a/", "/a", "a//b", "a/b/", "a/b/c", "a/.", "a/..", "a/__x__", "a/_____",
    ])
    func `refuse what names no document`(text: String) {
        #expect(throws: InvalidPath.self) { try DocumentPath(text) }
    }

    @Test(arguments: [
        "a/b", "a/____", "a/...", "a/__id7__", "a/__id-9223372036854775808__", "a/__x", "a/👩‍👧",
        "a/`", "a/ ", "a\u{0}/b", "a/x.y",
    ])
    func `allow odd names`(text: String) throws {
        #expect(try DocumentPath(text).text == text)
    }

    @Test(arguments: [
        "__id__", "__id07__", "__id+7__", "__id-0__", "__idx__", "__id9223372036854775808__",
    ])
    func `reserve what only looks like a numeric id`(id: String) {
        #expect(throws: InvalidPath.reservedID(id)) { try DocumentPath("a/\(id)") }
    }

    @Test func `bound ids by their bytes`() {
        #expect(throws: Never.self) {
            try DocumentPath("a/" + String(repeating: "é", count: 750))
        }
        #expect(throws: InvalidPath.tooLong(bytes: 1_502, limit: 1_500)) {
            try DocumentPath("a/" + String(repeating: "é", count: 751))
        }
    }

    @Test func `are in the order of their segments, numeric ids first`() throws {
        let ascending = try [
            "a/__id-9__", "a/__id7__", "a/__id7__/c/d", "a/__id10__", "a/A", "a/a", "a/a/b/c",
            "a/a!", "a/aa", "a/e\u{301}", "a/\u{E9}", "a/\u{FFFD}", "a/\u{10000}", "a!/b", "b/a",
        ].map { try DocumentPath($0) }
        for (i, a) in ascending.enumerated() {
            for (j, b) in ascending.enumerated() {
                #expect(DocumentPath.compare(a, b) == Comparison(i, j), "\(a) and \(b)")
            }
        }
    }

    @Test func `have a total order in which only the same are equal`() {
        var generator = Generator(seed: 13)
        for _ in 0..<5_000 {
            let (a, b, c) = (
                generator.documentPath(), generator.documentPath(), generator.documentPath()
            )
            #expect((DocumentPath.compare(a, b) == .equal) == (a == b), "\(a) and \(b)")
            #expect(DocumentPath.compare(a, b) == DocumentPath.compare(b, a).reversed)
            if a < b, b < c { #expect(a < c) }
        }
    }

    @Test func `have names that read back`() throws {
        let database = try DatabaseID(project: "p", database: "d")
        let path = try DocumentPath("rooms/blue/x/y")
        let name = path.name(in: database)
        #expect(name == "projects/p/databases/d/documents/rooms/blue/x/y")
        #expect(try ResourceName(name).document == path)
        #expect(try ResourceName(name).database == database)
        #expect(try ResourceName("projects/p/databases/d/documents").document == nil)
        #expect(try DatabaseID(name: "projects/p/databases/d") == database)
        #expect(try ReferenceValue(name: name).path == path)
    }

    @Test(arguments: [
        "", "projects", "projects/p/databases/d", "projects/p/databases/d/docs/a/b",
        "projects//databases/d/documents", "project/p/databases/d/documents/a/b",
        "projects/p/databases/d/documents/", "projects/p/databases/d/documents/a",
    ])
    func `refuse names that are none`(name: String) {
        #expect(throws: InvalidPath.self) { try ReferenceValue(name: name) }
    }

    @Test func `bound the names of projects and databases`() throws {
        let longest = String(repeating: "é", count: 127) + "e"
        let longer = longest + "e"
        #expect(try DatabaseID(project: longest, database: longest).project == longest)
        let refusal = InvalidPath.tooLong(bytes: 256, limit: 255)
        #expect(throws: refusal) { try DatabaseID(project: longer) }
        #expect(throws: refusal) { try DatabaseID(project: "p", database: longer) }
        #expect(throws: refusal) {
            try ResourceName("projects/\(longer)/databases/d/documents/a/b")
        }
    }
}
