import Testing
import TidemarkModel

@testable import TidemarkServer

/// Tests each limit of server-production-facts 9 with a value at the limit and a value over it.
struct IndexLimitTests {
    private func numbers(_ count: Int) -> Value {
        .array((0..<count).map { .integer(Int64($0)) })
    }

    private func text(_ bytes: Int) -> Value { .string(String(repeating: "x", count: bytes - 1)) }

    /// Returns a name of this many bytes, in fewer than a hundred nested collections.
    private func name(bytes: Int) -> String {
        var text = "c/" + String(repeating: "x", count: 998)
        while text.utf8.count + 1_200 < bytes {
            text += "/c/" + String(repeating: "x", count: 997)
        }
        return text + "/c/" + String(repeating: "y", count: bytes - text.utf8.count - 3)
    }

    private func tally(
        _ fields: MapValue, _ json: String = "{}", isExact: Bool = true
    ) throws -> IndexEntryTally {
        let configuration = try IndexConfiguration(json: .init(json.utf8))
        var tally = IndexEntryTally(path("c/d"), configuration, isExact: isExact)
        tally.add(fields)
        return tally
    }

    @Test func `an array of distinct elements`() throws {
        let server = try TestServer()
        try server.commit(set("c/d", ["a": numbers(19_999)]))
        let status = refusal { try server.commit(set("c/d", ["a": numbers(20_000)])) }
        #expect(status?.code == .invalidArgument)
        #expect(status?.message == "too many index entries for entity /c/d")
        #expect(
            status?.details == [
                .errorInfo(
                    reason: "INDEX_ENTRIES_COUNT_LIMIT_EXCEEDED",
                    domain: "firestore.googleapis.com", metadata: [:])
            ])
        #expect(try server.get("c/d").fields["a"] == numbers(19_999), "and nothing is lost")
    }

    @Test func `elements that come twice count once, however they are written`() throws {
        let server = try TestServer()
        let first = (0..<15_000).map { Value.integer(Int64($0)) }
        let twice = first + (0..<15_000).map { Value.double(Double($0)) }
        try server.commit(set("c/d", ["a": .array(twice)]))
        #expect(try tally(["a": .array(twice)]).count == 30_002)
    }

    @Test func `what a patch adds counts with what is there`() throws {
        let server = try TestServer()
        try server.commit(set("c/d", ["a": numbers(15_000)]))
        let patch = Mutation(path: path("c/d"), .patch(["b": numbers(5_000)], mask: [field("b")]))
        let status = refusal { try server.commit(patch) }
        #expect(status?.message == "too many index entries for entity /c/d")
    }

    @Test(
        arguments: [
            (["a": .integer(1)], 2), (["a": .null, "b": .string("")], 4), ([:], 0),
            (["m": .map(["a": .integer(1), "n": .map(["b": .boolean(true)])])], 8),
            (["m": .map([:])], 2), (["a": .array([])], 2),
            (["a": .array([.integer(1), .double(1), .integer(2)])], 6),
            (["a": .array([.map(["b": .integer(1), "d": .integer(2)])])], 4),
            (["m": .map(["a": .array([.integer(1)])])], 6),
            (["v": .vector(VectorValue([1, 2, 3]))], 2),
        ] as [(MapValue, Int)])
    func `entries are counted`(fields: MapValue, count: Int) throws {
        #expect(try tally(fields).count == count)
        #expect(try tally(fields, isExact: false).count >= count)
    }

    @Test func `settings and declared indexes change the count`() throws {
        let fields: MapValue = [
            "a": .integer(1), "t": .array([.integer(1), .integer(2), .integer(2)]),
            "m": .map(["x": .integer(1)]),
        ]
        #expect(try tally(fields).count == 2 + 6 + 4)
        func counted(_ indexes: [String], _ settings: [(path: String, indexes: [String])]) throws
            -> Int
        {
            try tally(fields, String(decoding: PlanCase.json(indexes, settings), as: UTF8.self))
                .count
        }
        #expect(try counted([], [("t", [])]) == 2 + 4)
        #expect(try counted([], [("m", [])]) == 2 + 6)
        #expect(try counted([], [("*", [])]) == 0)
        #expect(try counted([], [("a", ["x ASC", "group x ASC", "group x DESC"])]) == 3 + 6 + 4)
        #expect(try counted([], [("t", ["x CONTAINS"])]) == 2 + 4 + 4)
        #expect(try counted(["a ASC, m.x DESC"], []) == 12 + 1)
        #expect(try counted(["t CONTAINS, a DESC"], []) == 12 + 2)
        #expect(try counted(["a ASC, missing DESC"], []) == 12)
        let server = try TestServer(
            indexes: IndexSettings(
                try IndexConfiguration(json: PlanCase.json([], [("a", [])]))))
        try server.commit(set("c/d", ["a": numbers(30_000)]))
    }

    @Test func `one entry of a field`() throws {
        // The entry contains the name, the parent's name, the field's name, the indexed part of the
        // value, and 32 bytes.
        let id = name(bytes: 2_600)
        let parent = id.split(separator: "/").dropLast(2).joined(separator: "/")
        let fixed = (id.utf8.count + 17) + (parent.utf8.count + 17) + 2 + 32
        let room = 5_529 - fixed
        #expect((1..<1_500).contains(room), "else the test shows nothing")
        let server = try TestServer()
        try server.commit(set(id, ["f": text(room)]))
        let status = refusal { try server.commit(set(id, ["f": text(room + 1)])) }
        #expect(status == .invalidArgument("Index entry is too large."))
        // The index contains only the beginning of a long value, so a long value alone never makes
        // an entry too large.
        try server.commit(set("c/d", ["f": text(100_000)]))
        // A field without an index has no entry.
        let json = PlanCase.json([], [("f", [])])
        let exempt = try TestServer(indexes: IndexSettings(try IndexConfiguration(json: json)))
        try exempt.commit(set(id, ["f": text(room + 1)]))
    }

    @Test func `a document's name`() throws {
        let server = try TestServer()
        try server.commit(set(name(bytes: 4_622), [:]))
        let status = refusal { try server.commit(set(name(bytes: 5_000), [:])) }
        #expect(status == .invalidArgument("Index entry is too large."))
        // The server accepts a delete of such a name.
        try server.commit(delete(name(bytes: 5_000)))
    }

    @Test func `all that one commit stores`() throws {
        /// Returns the documented size of a document of 9,000 elements and its index entries.
        func total(_ idBytes: Int) -> Int {
            let name = 2 + idBytes + 1 + 16
            let base = name + 16 + 32 + 2
            return name + 32 + 2 + 9_000 * 100 + 2 * (base + 1_500) + 18_000 * (base + 100)
        }
        let elements = (0..<9_000).map { number in
            let digits = "\(number)"
            return Value.string(digits + String(repeating: "x", count: 99 - digits.utf8.count))
        }
        let largest = try #require((1...1_500).last { total($0) <= 29_650_337 })
        try #require(largest < 1_500)
        func write(_ idBytes: Int) -> Mutation {
            set("c/" + String(repeating: "d", count: idBytes), ["f": .array(elements)])
        }
        let server = try TestServer()
        try server.commit(write(largest))
        let status = refusal { try server.commit(write(largest + 1)) }
        #expect(status == .invalidArgument("Transaction too big. Decrease transaction size."))
        // Three writes fit alone but not together.
        let both = refusal {
            try server.commit(write(largest / 2), write(largest / 2 + 1), write(largest / 2 + 2))
        }
        #expect(both == .invalidArgument("Transaction too big. Decrease transaction size."))
        // Repeated elements add no entries.
        let repeated = Array(repeating: elements[0], count: 9_000)
        try server.commit(
            set("c/" + String(repeating: "e", count: 1_500), ["f": .array(repeated)]))
    }

    @Test func `too many entries are said before too many bytes`() throws {
        let server = try TestServer()
        let id = "c/" + String(repeating: "x", count: 1_500)
        let status = refusal { try server.commit(set(id, ["a": numbers(20_000)])) }
        #expect(status?.message.hasPrefix("too many index entries") == true)
    }
}
