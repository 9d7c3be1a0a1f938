import Testing
import TidemarkModel

@testable import TidemarkServer

struct `Trigger patterns` {
    @Test(arguments: [
        ("rooms/{id}", "rooms/blue", true), ("rooms/{id}", "rooms/blue/messages/7", false),
        ("rooms/{id}", "halls/blue", false), ("/rooms/{id}/", "rooms/blue", true),
        ("rooms/{id=*}", "rooms/blue", true), ("rooms/*", "rooms/blue", true),
        ("rooms/blue", "rooms/blue", true), ("rooms/blue", "rooms/Blue", false),
        ("{any}/{id}", "halls/blue", true), ("{any}/{id}", "halls/blue/a/b", false),
        ("users/{u=**}", "users/ann", true), ("users/{u=**}", "users/ann/notes/1", true),
        ("users/**", "rooms/ann", false), ("**", "a/b/c/d", true),
        ("{path=**}/messages/{m}", "rooms/blue/messages/7", true),
        ("{path=**}/messages/{m}", "messages/7", false),
        ("a/{rest=**}/z/9", "a/b/z/9", true), ("a/{rest=**}/z/9", "a/z/9/9", false),
        ("a/{rest=**}/z/9", "a/b/c/d/z/9", true), ("rooms/caf\u{E9}", "rooms/cafe\u{301}", false),
        ("rooms/cafe\u{301}", "rooms/cafe\u{301}", true),
    ])
    func `match paths by bytes`(pattern: String, path: String, isMatch: Bool) throws {
        #expect(try TriggerPattern(pattern).matches(DocumentPath(path)) == isMatch)
    }

    @Test func `of a literal path give braces no meaning`() throws {
        let pattern = try TriggerPattern("rooms/{id}", isLiteral: true)
        #expect(pattern.matches(try DocumentPath("rooms/{id}")))
        #expect(!pattern.matches(try DocumentPath("rooms/blue")))
    }

    @Test(arguments: [
        "", "rooms", "rooms/{id}/messages", "rooms//a", "rooms/{}", "rooms/{id", "rooms/id}",
        "rooms/a{b}", "rooms/{=*}", "rooms/{id=a/b}", "rooms/{id=x}", "{a=**}/{b=**}",
        "rooms/{{id}}",
    ])
    func `that are wrong are refused`(text: String) {
        #expect(throws: InvalidTrigger.self) { try TriggerPattern(text) }
    }

    @Test(arguments: [
        ("rooms/{id}", "rooms"), ("{x=**}/messages/{m}", "messages"), ("a/b/c/d", "c"),
        ("users/{u=**}", nil), ("{c}/{d}", nil), ("**", nil),
    ])
    func `name the collection of their documents`(pattern: String, id: String?) throws {
        #expect(try TriggerPattern(pattern).collectionID == id)
    }

    @Test func `give the parts of a path their names`() throws {
        let pattern = try TriggerPattern("a/{x}/{rest=**}/z/{y=*}")
        let path = try DocumentPath("a/1/b/c/z/9")
        #expect(pattern.matches(path))
        #expect(pattern.parameters(in: path) == ["x": "1", "rest": "b/c", "y": "9"])
        #expect(try TriggerPattern("a/*").parameters(in: DocumentPath("a/1")).isEmpty)
    }

    @Test func `have twelve types, read from their names`() {
        #expect(EventType.all.count == 12 && Set(EventType.all.map(\.name)).count == 12)
        for type in EventType.all { #expect(EventType(name: type.name) == type) }
        let name = "providers/cloud.firestore/eventTypes/document.write"
        #expect(EventType(name: name) == EventType(.written, generation: .first))
        let second = "google.cloud.firestore.document.v1.deleted.withAuthContext"
        #expect(EventType(name: second) == EventType(.deleted, hasAuthContext: true))
        for wrong in ["", "written", name + "n", name + ".withAuthContext"] {
            #expect(EventType(name: wrong) == nil)
        }
    }
}

struct `Changed fields` {
    private func leaves(_ before: MapValue, _ after: MapValue) -> [String] {
        ChangedFields.leaves(from: before, to: after).map(\.encoded)
    }

    @Test func `are the leaves that differ`() {
        let before: MapValue = [
            "a": .integer(1), "b": .map(["x": .integer(1), "y": .integer(2)]), "c": .null,
            "gone": .string(""),
        ]
        let after: MapValue = [
            "a": .integer(2), "b": .map(["x": .integer(1), "y": .integer(3)]), "c": .null,
            "new": .map(["deep": .map(["er": .boolean(true)]), "empty": .map([:])]),
        ]
        #expect(leaves(before, after) == ["a", "b.y", "gone", "new.deep.er", "new.empty"])
        #expect(leaves(after, after).isEmpty)
    }

    @Test func `of a map that becomes a value are that field`() {
        let map: MapValue = ["a": .map(["x": .integer(1)])]
        #expect(leaves(map, ["a": .integer(1)]) == ["a"])
        #expect(leaves(["a": .integer(1)], map) == ["a.x"])
        #expect(leaves(map, ["a": .map([:])]) == ["a"])
        #expect(leaves(map, [:]) == ["a.x"])
    }

    @Test func `are quoted, and kept apart by bytes`() {
        let before: MapValue = ["caf\u{E9}": .integer(1), "a.b": .integer(1)]
        let after: MapValue = ["cafe\u{301}": .integer(1), "a.b": .integer(2)]
        #expect(leaves(before, after) == ["`a.b`", "`cafe\u{301}`", "`caf\u{E9}`"])
    }

    @Test func `tell an integer from a double of its size`() {
        #expect(leaves(["n": .integer(1)], ["n": .double(1)]) == ["n"])
    }
}
