import Foundation
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkModel
import TidemarkServer

@testable import TidemarkConsole

/// Two names that are one key of a Swift dictionary.
private let spelled = MapValue([("\u{E9}", .integer(1)), ("e\u{301}", .integer(2))])

/// The pages send changes to a server in process.
@Suite(.timeLimit(.minutes(2))) struct ChangesTests {
    private let server: FirestoreServer
    private let console: Console
    private let context: CallContext

    init() throws {
        server = try FirestoreServer(FirestoreServer.Configuration())
        console = Console(server, traffic: RecordedTransport(server) { 1_000_000 })
        context = CallContext(database: try DatabaseID(project: "demo"))
    }

    private func send(
        _ method: String, _ path: String, _ body: String = "",
        query: [PageRequest.Parameter] = []
    ) async throws -> (status: Int, text: String) {
        let segments = path.split(separator: "/").map(String.init)
        let place = [segments[0], "demo", "(default)"] + segments.dropFirst()
        let answer = try #require(
            await console.answer(
                PageRequest(method: method, path: place, query: query, body: Array(body.utf8))))
        guard case .bytes(let bytes) = answer.body else { return (answer.status, "") }
        return (answer.status, String(decoding: bytes, as: UTF8.self))
    }

    private func set(_ path: String, _ fields: MapValue) async throws {
        _ = try await server.commit([Mutation(path: DocumentPath(path), .set(fields))], context)
    }

    private func document(_ path: String) async throws -> Document? {
        try await console.reader.document(
            DocumentPath(path), in: context.database, at: .latest)
    }

    private func all() async throws -> [String] {
        let query = ModelQuery(parent: nil, collectionID: nil, allDescendants: true)
        return try await server.documents(of: query, context).documents.map(\.path.text)
    }

    @Test func `a batch is written together, or not at all`() async throws {
        try await set("rooms/a", ["n": .integer(1)])
        try await set("rooms/b", ["n": .integer(1)])
        let (a, b) = (try await document("rooms/a"), try await document("rooms/b"))
        func batch(_ update: Timestamp?) -> String {
            let old = update?.rfc3339 ?? ""
            return """
                {"writes": [
                {"path": "rooms/a", "update": "\(old)", "fields": {"n": {"integerValue": "2"}}},
                {"path": "rooms/b", "update": "\(b?.updateTime.rfc3339 ?? "")"},
                {"path": "rooms/c", "fields": {"z": {"doubleValue": -0.0}}}]}
                """
        }
        let before = try await all()
        let refused = try await send("POST", "batch", batch(Timestamp(seconds: 1, nanoseconds: 0)))
        #expect(refused.status == 409 && refused.text.contains("\"conflicts\":[\"rooms/a\"]"))
        #expect(try await all() == before)
        #expect(try await document("rooms/a")?.fields["n"] == .integer(1))
        #expect(try await send("POST", "batch", batch(a?.updateTime)).status == 200)
        #expect(try await all() == ["rooms/a", "rooms/c"])
        guard case .double(let zero)? = try await document("rooms/c")?.fields["z"] else {
            Issue.record("no double")
            return
        }
        #expect(zero.sign == .minus && zero == 0)
    }

    @Test(arguments: [
        "", "{}", "{\"writes\": []}", "{\"writes\": [{\"path\": \"rooms\"}]}",
        "{\"writes\": [{\"path\": \"rooms/a\", \"fields\": {\"n\": 3}}]}",
        "{\"writes\": [{\"path\": \"rooms/a\", \"update\": \"noon\"}]}",
    ])
    func `what is no batch is refused`(body: String) async throws {
        let answer = try await send("POST", "batch", body)
        #expect(answer.status == 400 && answer.text.contains("\"error\""))
        #expect(try await all() == [])
    }

    @Test func `names that differ only in how an accent is composed are shown and saved as two`()
        async throws
    {
        try await set("rooms/a", spelled)
        let shown = try await send("GET", "data.json/rooms/a")
        let saved = try await send("PUT", "data/rooms/copy", shown.text)
        #expect(saved.status == 200, "\(saved.text)")
        #expect(try await document("rooms/copy")?.fields == spelled)
        let page = try await send("GET", "data/rooms/a").text
        for name in ["\u{E9}", "e\u{301}"] {
            let bytes = Array("<bdi>\(name)</bdi>".utf8)
            #expect(Array(page.utf8).firstRange(of: bytes) != nil)
            let json = Array("\"\(name)\"".utf8)
            #expect(Array(shown.text.utf8).firstRange(of: json) != nil)
        }
        let table = DocumentTable([(try DocumentPath("rooms/a"), try await document("rooms/a"))])
        #expect(table.columns.count == 2)
        let typed = "{\"\u{E9}\":{\"integerValue\":1},\"e\u{301}\":{\"integerValue\":2}}"
        let batch = try await send(
            "POST", "batch", "{\"writes\":[{\"path\":\"rooms/b\",\"fields\":\(typed)}]}")
        #expect(batch.status == 200, "\(batch.text)")
        #expect(try await document("rooms/b")?.fields == spelled)
    }

    @Test func `a copy is exact, a rename leaves nothing behind`() async throws {
        let fields: MapValue = ["nan": .double(.nan), "big": .integer(.max)]
        try await set("rooms/a", fields)
        let update = try #require(await document("rooms/a")).updateTime.rfc3339
        func copy(_ to: String, move: Bool, _ update: String) async throws -> Int {
            let body = "{\"to\": \"\(to)\", \"update\": \"\(update)\", \"move\": \(move)}"
            return try await send("POST", "copy/rooms/a", body).status
        }
        #expect(try await copy("rooms/b", move: false, update) == 200)
        #expect(try await copy("rooms/b", move: false, update) == 409, "it is there")
        #expect(try await copy("rooms/c", move: true, "2001-01-01T00:00:00Z") == 409)
        #expect(try await copy("rooms/c", move: true, update) == 200)
        #expect(try await all() == ["rooms/b", "rooms/c"])
        #expect(try await document("rooms/c")?.fields == fields)
    }

    @Test func `what lies below is counted before it is deleted`() async throws {
        for path in [
            "rooms/a", "rooms/a/m/1", "rooms/gone/m/2", "rooms/a/m/1/x/3", "roomsx/a", "room/b",
            "rooms/__id7__",
        ] { try await set(path, [:]) }
        let counted = try await send("GET", "below/rooms")
        #expect(counted.text == "{\"documents\":5}")
        func delete(_ path: String, _ count: Int) async throws -> Int {
            try await send("DELETE", "below/\(path)", query: [.init("count", "\(count)")]).status
        }
        #expect(try await delete("rooms", 4) == 409)
        #expect(try await all().count == 7)
        #expect(try await delete("rooms/a", 3) == 200)
        #expect(try await all() == ["room/b", "rooms/__id7__", "rooms/gone/m/2", "roomsx/a"])
        #expect(try await delete("rooms", 2) == 200)
        #expect(try await all() == ["room/b", "roomsx/a"])
    }

    @Test func `a version is put back, and the versions are told`() async throws {
        for number in 1...3 { try await set("rooms/a", ["n": .integer(Int64(number))]) }
        let second = try ServerInsight(server).commitTimes(of: context.database, limit: 10)[1]
        _ = try await server.commit(
            [Mutation(path: DocumentPath("rooms/a"), .delete)], context)
        try await set("rooms/b", ["other": .null])
        struct Versions: Decodable {
            struct Version: Decodable {
                let exists: Bool
                let difference: Difference
            }
            struct Difference: Decodable { let fields: [Field] }
            struct Field: Decodable { let name: String }
            let versions: [Version]
        }
        let told = try await send("GET", "history.json/rooms/a")
        let versions = try JSONDecoder().decode(Versions.self, from: Data(told.text.utf8)).versions
        #expect(versions.map(\.exists).first == false && versions.count >= 3)
        #expect(versions.allSatisfy { $0.difference.fields.map(\.name) == ["n"] })
        let at = [PageRequest.Parameter("at", second.rfc3339)]
        #expect(try await send("POST", "restore/rooms/a", query: at).status == 200)
        #expect(try await document("rooms/a")?.fields == ["n": .integer(2)])
        let changes = try await send(
            "GET", "history.json", query: [.init("from", second.rfc3339)])
        #expect(changes.text.contains("\"path\":\"rooms/b\""))
        #expect(!changes.text.contains("\"path\":\"rooms/a\""), "it is as it was then")
    }

    @Test func `the table's windows follow one another, from any place`() async throws {
        for number in 100..<350 { try await set("rows/r\(number)", ["n": .integer(1)]) }
        struct Window: Decodable {
            struct Row: Decodable { let id: String }
            let rows: [Row]
            let more: Bool
        }
        func window(_ query: [PageRequest.Parameter]) async throws -> Window {
            let answer = try await send("GET", "rows/rows", query: query)
            return try JSONDecoder().decode(Window.self, from: Data(answer.text.utf8))
        }
        let second = try await window([.init("after", "r199")])
        #expect(second.rows.map(\.id) == (200..<300).map { "r\($0)" } && second.more)
        let third = try await window([.init("skip", "200")])
        #expect(third.rows.map(\.id) == (300..<350).map { "r\($0)" } && !third.more)
        let far = try await window([.init("after", "r199"), .init("skip", "100")])
        #expect(far.rows.map(\.id) == third.rows.map(\.id))
        #expect(try await send("GET", "count/rows").text == "{\"documents\":250}")
        #expect(try await send("GET", "rows/rows", query: [.init("skip", "9999")]).status == 400)
    }
}

/// The console imports texts that a user pastes or drops.
struct DocumentImportTests {
    private func read(_ text: String) throws(PageRefusal) -> [DocumentImport.Entry] {
        try DocumentImport { "made" }.entries(of: text)
    }

    @Test func `names that differ only in how an accent is composed are taken in as two`() throws {
        let entries = DocumentImport { "id" }
        let plain = "{\"\u{E9}\":1,\"e\u{301}\":2}"
        let typed =
            "{\"fields\":{\"\u{E9}\":{\"integerValue\":1},\"e\u{301}\":{\"integerValue\":2}}}"
        for text in [plain, typed, "[\(plain)]", "\(plain)\r\n\(typed)", "\u{E9},e\u{301}\n1,2"] {
            for entry in try entries.entries(of: text) {
                #expect(entry.fields == spelled, "\(text)")
            }
        }
        let marked = try entries.entries(of: "a,b\n1,\u{301}x")
        #expect(marked.first?.fields == ["a": .integer(1), "b": .string("\u{301}x")])
    }

    @Test func `JSON keeps integers and doubles apart`() throws {
        let entries = try read(
            """
            [{"__id__": "a", "n": 9223372036854775807, "x": 5.0, "e": 1e3, "b": true, "z": null,
              "l": [1, "t", {"m": 1}]}, {"s": "\\u20ac",
              "u": 18446744073709551615}]
            """)
        #expect(entries.map(\.id) == ["a", "made"])
        #expect(
            entries[0].fields == [
                "n": .integer(.max), "x": .double(5), "e": .double(1_000), "b": .boolean(true),
                "z": .null,
                "l": .array([.integer(1), .string("t"), .map(["m": .integer(1)])]),
            ])
        #expect(entries[1].fields == ["s": .string("€"), "u": .double(18_446_744_073_709_551_616)])
    }

    @Test func `JSON lines, and the typed form`() throws {
        let entries = try read(
            """
            {"name": "projects/p/databases/d/documents/c/x", "fields": {"t": {"bytesValue": "AA=="}}}

            {"n": 1}
            """)
        #expect(entries.map(\.id) == ["x", "made"])
        #expect(entries[0].fields == ["t": .bytes([0])] && entries[1].fields == ["n": .integer(1)])
    }

    @Test func `CSV, with quotes, line breaks and gaps`() throws {
        let entries = try read(
            "__id__,n,text,at\r\n7,1.5,\"a \"\"b\"\",\nc\",2026-11-24T10:00:00Z\r\nx,,true,\"12\"\r\n"
        )
        #expect(entries.map(\.id) == ["7", "x"])
        #expect(
            entries[0].fields == [
                "n": .double(1.5), "text": .string("a \"b\",\nc"),
                "at": .timestamp(Timestamp(seconds: 1_795_514_400, nanoseconds: 0)),
            ])
        #expect(entries[1].fields == ["text": .boolean(true), "at": .string("12")])
    }

    @Test(arguments: [
        "", "  ", "{", "[1]", "{\"n\": 1}\nx", "a,b\n1", "a,a\n1,2", "a\n\"open",
        "{\"__id__\": \"a/b\"}",
        "{\"fields\": {\"n\": {\"integerValue\": \"x\"}}}",
    ])
    func `what cannot be read is refused with a sentence`(text: String) {
        let refusal = #expect(throws: PageRefusal.self) { try read(text) }
        #expect(refusal?.message.isEmpty == false)
    }
}
