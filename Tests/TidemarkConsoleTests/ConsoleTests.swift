import Foundation
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkModel
import TidemarkServer

@testable import TidemarkConsole

/// The console over a server in process, without a socket.
@Suite(.timeLimit(.minutes(2))) struct ConsoleTests {
    private let server: FirestoreServer
    private let console: Console
    private let context: CallContext
    private let traffic: RecordedTransport

    init() throws {
        server = try FirestoreServer(FirestoreServer.Configuration())
        traffic = RecordedTransport(server) { 1_000_000 }
        console = Console(server, traffic: traffic)
        context = CallContext(database: try DatabaseID(project: "demo"), label: "app")
    }

    private func write(_ path: String, _ fields: MapValue) async throws {
        _ = try await traffic.commit([Mutation(path: DocumentPath(path), .set(fields))], context)
    }

    private func get(
        _ path: String..., query: [PageRequest.Parameter] = []
    ) async throws -> (status: Int, text: String) {
        try await send(PageRequest(path: path, query: query))
    }

    private func send(_ request: PageRequest) async throws -> (status: Int, text: String) {
        let answer = try #require(await console.answer(request))
        guard case .bytes(let bytes) = answer.body else { return (answer.status, "") }
        return (answer.status, String(decoding: bytes, as: UTF8.self))
    }

    private func answers(_ request: PageRequest) async -> Bool {
        await console.answer(request) != nil
    }

    private static let base = ["demo", "(default)"]

    @Test func `what documents hold is shown as text`() async throws {
        let evil = "<script>alert(1)</script>"
        try await write("\(evil.replacing("/", with: "|"))/\"x'", [evil: .string(evil)])
        for path in [
            [], [evil.replacing("/", with: "|")], [evil.replacing("/", with: "|"), "\"x'"],
        ] {
            let page = try await send(PageRequest(path: ["data"] + Self.base + path))
            #expect(page.status == 200)
            #expect(!page.text.contains("<script>alert"), "\(path)")
            #expect(page.text.contains("&lt;script&gt;alert"), "\(path)")
        }
    }

    @Test func `reads of the console are billed to nobody`() async throws {
        for number in 0..<30 { try await write("rooms/r\(number)", ["n": .integer(1)]) }
        let before = server.meter()
        _ = try await get("data", "demo", "(default)", "rooms")
        _ = try await get("query", "demo", "(default)", query: [.init("q", "rooms where n == 1")])
        #expect(server.meter() == before)
        #expect(server.unbilledUsage().reads >= 60)
    }

    @Test func `a page's rows go on where the last ended, missing parents among them`() async throws
    {
        try await write("rooms/gone/messages/m", [:])
        for number in 100..<250 { try await write("rooms/r\(number)", ["n": .integer(1)]) }
        struct Answer: Decodable {
            struct Table: Decodable { let rows: [Row] }
            struct Row: Decodable { let path: String }
            let table: Table
            let next: String
        }
        var paths: [String] = []
        var token = ""
        repeat {
            let page = try await get(
                "data.json", "demo", "(default)", "rooms", query: [.init("page", token)])
            let answer = try JSONDecoder().decode(Answer.self, from: Data(page.text.utf8))
            paths += answer.table.rows.map(\.path)
            token = answer.next
        } while !token.isEmpty
        #expect(paths == ["rooms/gone"] + (100..<250).map { "rooms/r\($0)" })
    }

    @Test func `each kind of value is saved as it was shown`() async throws {
        let fields: MapValue = [
            "int": .integer(.max), "double": .double(5), "zero": .double(-0.0),
            "nan": .double(.nan),
            "time": .timestamp(Timestamp(seconds: -1, nanoseconds: 1_000)),
            "text": .string("a\u{0}b"),
            "bytes": .bytes([0, 255]), "null": .null, "flag": .boolean(true),
            "ref": .reference(
                ReferenceValue(database: context.database, path: try DocumentPath("a/b"))),
            "place": .geoPoint(GeoPoint(latitude: -1.5, longitude: 180)),
            "vector": .vector(VectorValue([1, -0.0])),
            "deep": .map(["list": .array([.map(["x": .integer(1)]), .double(1)])]),
        ]
        try await write("kinds/all", fields)
        let shown = try await get("data.json", "demo", "(default)", "kinds", "all")
        struct Shown: Decodable { let updateTime: String }
        let update = try JSONDecoder().decode(Shown.self, from: Data(shown.text.utf8)).updateTime
        let saved = try await send(
            PageRequest(
                method: "PUT", path: ["data"] + Self.base + ["kinds", "copy"],
                body: Array(shown.text.utf8)))
        #expect(saved.status == 200, "\(saved.text)")
        let copy = try #require(
            await console.reader.document(
                DocumentPath("kinds/copy"), in: context.database, at: .latest))
        #expect(copy.fields == fields)

        let path = ["data"] + Self.base + ["kinds", "all"]
        func put(_ update: String?) async throws -> Int {
            let query = update.map { [PageRequest.Parameter("update", $0)] } ?? []
            return try await send(
                PageRequest(
                    method: "PUT", path: path, query: query, body: Array("{\"fields\":{}}".utf8))
            ).status
        }
        #expect(try await put(nil) == 409, "it exists")
        #expect(try await put(update) == 200)
        #expect(try await put(update) == 409, "it has changed since")
        #expect(try await put("yesterday") == 400)
    }

    @Test(arguments: [
        "", "{", "[]", "{\"fields\":{\"n\":3}}", "{\"fields\":{\"n\":{\"integerValue\":\"x\"}}}",
    ])
    func `what is no document is refused, and nothing is written`(body: String) async throws {
        try await write("rooms/blue", ["n": .integer(1)])
        let answer = try await send(
            PageRequest(
                method: "PUT", path: ["data"] + Self.base + ["rooms", "new"],
                body: Array(body.utf8)))
        #expect(answer.status == 400)
        #expect(answer.text.contains("\"error\""))
        let document = try await console.reader.document(
            DocumentPath("rooms/new"), in: context.database, at: .latest)
        #expect(document == nil)
    }

    @Test func `the past is shown as it was`() async throws {
        try await write("rooms/blue", ["name": .string("old")])
        let (_, readTime) = try await traffic.documents(
            of: TidemarkModel.Query(collection: CollectionPath("rooms")), context)
        let time = try #require(readTime)
        try await write("rooms/blue", ["name": .string("new")])
        let path = ["data"] + Self.base + ["rooms", "blue"]
        let past = try await send(
            PageRequest(path: path, query: [.init("at", time.rfc3339)]))
        #expect(past.text.contains("&quot;old&quot;") && !past.text.contains("&quot;new&quot;"))
        #expect(!past.text.contains("<textarea"), "the past cannot be edited")
        #expect(try await send(PageRequest(path: path)).text.contains("&quot;new&quot;"))
        let wrong = try await send(PageRequest(path: path, query: [.init("at", "noon")]))
        #expect(wrong.status == 400)
    }

    @Test func `traffic says who asked, what, and what it cost`() async throws {
        for number in 0..<7 { try await write("rooms/r\(number)", ["n": .integer(1)]) }
        let query = TidemarkModel.Query(collection: try CollectionPath("rooms"))
        _ = try await traffic.documents(of: query, context)
        let entry = try #require(traffic.snapshot.newest(1) { _ in true }.first)
        #expect(entry.method == "RunQuery" && entry.asked == "rooms" && entry.label == "app")
        #expect(entry.documents == 7 && entry.reads == 7 && entry.outcome == "OK")
        let page = try await get("traffic", "\(entry.id)")
        #expect(page.text.contains("Reads billed"))
        #expect(try await get("traffic", "99999").status == 404)
        #expect(
            try await get("traffic", query: [.init("filter", "nobody")]).text.contains(
                "<tbody></tbody>"))
    }

    @Test func `a caller that does not ask for usage is told none`() async throws {
        try await write("rooms/blue", [:])
        let ended = AsyncStream<RPCStatus>.makeStream()
        for wants in [false, true] {
            var context = context
            context.reportsUsage = wants
            let request = GetDocumentRequest(path: try DocumentPath("rooms/blue"))
            _ = traffic.call(.getDocument(request), context) { event in
                if case .ended(let status) = event { ended.continuation.yield(status) }
            }
            var iterator = ended.stream.makeAsyncIterator()
            let status = try #require(await iterator.next())
            #expect(status.trailers.isEmpty == !wants)
            let entry = traffic.snapshot.newest(1) { _ in true }.first
            #expect(entry?.reads == 1 && entry?.method == "GetDocument")
        }
        let first = traffic.snapshot.newest(10) { _ in true }.last
        #expect(first?.writes == 1 && first?.method == "Commit")
    }

    @Test func `a wrong query says why`() async throws {
        try await write("rooms/blue", [:])
        let page = try await get("query", "demo", "(default)", query: [.init("q", "rooms where")])
        #expect(page.status == 400)
        #expect(page.text.contains("role=\"alert\""))
    }

    @Test func `a pipeline has its stages, rows and price`() async throws {
        var configuration = FirestoreServer.Configuration()
        configuration.editions = DatabaseEditions(.standard, own: ["shop": .enterprise])
        let server = try FirestoreServer(configuration)
        let console = Console(server, traffic: RecordedTransport(server) { 1_000_000 })
        let shop = CallContext(database: try DatabaseID(project: "demo", database: "shop"))
        let writes = try (0..<150).map {
            Mutation(
                path: try DocumentPath("items/i\($0)"), .set(["n": .integer(Int64($0 % 3))]))
        }
        _ = try await server.commit(writes, shop)
        let before = server.meter()
        func page(_ text: String, database: String = "shop") async throws -> (Int, String) {
            let request = PageRequest(
                path: ["query", "demo", database], query: [.init("pipeline", text)])
            let answer = try #require(await console.answer(request))
            guard case .bytes(let bytes) = answer.body else { return (answer.status, "") }
            return (answer.status, String(decoding: bytes, as: UTF8.self))
        }
        let groups = try await page("items | aggregate count() as items by n | sort n desc")
        #expect(groups.0 == 200)
        for part in [
            "<dt>Price of a million runs</dt><dd>$", "<dt>Rows</dt><dd>3</dd>",
            "<dt>Documents read</dt><dd>150, ",
            "<th scope=\"row\">aggregate</th><td class=\"number\">3</td>", "collection items",
            "In Swift", "groups=[Field.of(&quot;n&quot;)]",
        ] { #expect(groups.1.contains(part), "\(part)") }
        #expect(server.meter() == before, "the console's own reads are not billed")
        let all = try await page("items")
        #expect(all.1.contains("The first 100 rows:") && all.1.contains("<dd>150</dd>"))
        #expect(all.1.contains(#"<a href="/data/demo/shop/items/i0">"#))
        let stages = [
            PipelineFigures.Stage(
                name: "collection", rows: 1, milliseconds: 1, detail: "index items: n")
        ]
        let run = PipelineFigures.Execution(
            documentsRead: 1, bytesRead: 1, readUnits: 1, milliseconds: 1)
        let figures = PipelineFigures(stages: stages, execution: run)
        #expect(figures.indexNote?.contains("only the indexes that you create") == true)
        #expect(try await page("items | delete").0 == 400)
        #expect(try await page("items | where f(n)").1.contains("role=\"alert\""))
        let refused = try await page("items", database: "(default)")
        #expect(refused.0 == 400 && refused.1.contains("Enterprise edition"))
        #expect(refused.1.contains("In Python"), "the code helps on the device too")
        server.close()
    }

    @Test func `pages that are not there are nobody's`() async throws {
        #expect(await answers(PageRequest(path: ["nothing"])) == false)
        #expect(await answers(PageRequest(path: ["assets", "../secret"])) == false)
        #expect(await answers(PageRequest(method: "POST", path: ["data"])) == false)
        #expect(try await get("data", "demo").status == 404)
        #expect(try await get("data", "demo", "(default)", "a", "").status == 400)
    }

    @Test func `the first page is small`() async throws {
        try await write("rooms/blue", [:])
        var bytes = try await get("data", "demo", "(default)").text.utf8.count
        for name in ["console.css", "console.js", "icon.svg"] + Assets.modules {
            bytes += try await get("assets", name).text.utf8.count
        }
        #expect(bytes < 150_000)
    }

    @Test func `a page names all that its modules import and fetch first`() async throws {
        try await write("rooms/blue", ["a b": .integer(1)])
        let page = try await get("data", "demo", "(default)", "rooms").text
        var imported: Set<String> = []
        for name in ["console.js"] + Assets.modules {
            for match in try await get("assets", name).text.matches(of: /"\.\/([a-z]+\.js)"/) {
                imported.insert(String(match.1))
            }
        }
        #expect(imported == Set(Assets.modules))
        for name in imported {
            #expect(page.contains(#"<link rel="modulepreload" href="/assets/\#(name)">"#))
        }
        let first = "/rows/demo/%28default%29/rooms?column=a%20b"
        #expect(page.contains(#"<link rel="preload" as="fetch" crossorigin href="\#(first)">"#))
        #expect(page.contains(#"data-first="\#(first)""#))
    }
}
