import Foundation
import Testing
import TidemarkHTTP
import TidemarkModel
import TidemarkRules
import TidemarkServer

@testable import TidemarkConsole

@Suite(.timeLimit(.minutes(2))) struct RulesPageTests {
    private let server: FirestoreServer
    private let console: Console

    init() throws {
        server = try FirestoreServer(FirestoreServer.Configuration())
        console = Console(server, traffic: RecordedTransport(server) { 1_000_000 })
    }

    private let file = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            match /rooms/{id} {
              allow get: if resource.data.owner == '<b>' || request.auth.token.admin;
              allow list: if request.query.limit <= 5;
              allow create: if request.resource.data.open;
              allow delete: if true;
            }
          }
        }
        """

    private func page(
        _ query: [String: String] = [:], section: String = "rules"
    ) async throws -> String {
        let request = PageRequest(
            path: [section], query: query.map { PageRequest.Parameter($0.key, $0.value) })
        let answer = try #require(await console.answer(request))
        guard case .bytes(let bytes) = answer.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `says when there are none`() async throws {
        #expect(try await page().contains("No rules are in force, so everything is allowed."))
    }

    @Test func `shows the file with its warnings, escaped`() async throws {
        server.setRules(RulesSettings(try Ruleset(file)))
        let text = try await page()
        #expect(text.contains("&lt;b&gt;") && !text.contains("<b>"))
        #expect(text.contains("Anybody may delete here, even without signing in."))
        #expect(text.contains("not evaluated"))
    }

    @Test(arguments: [
        (["path": "rooms/a", "as": "ann", "token": #"{"admin": true}"#], "Allowed"),
        (["path": "rooms/a", "as": "ann", "token": #"{"admin": false}"#], "Denied"),
        (["path": "rooms/a", "do": "delete"], "Allowed"),
        (["path": "rooms/a", "do": "create", "data": #"{"open": true}"#], "Allowed"),
        (["path": "rooms/a", "do": "create"], "Denied"),
        (["path": "rooms", "do": "list", "data": #"{"limit": 5}"#], "Allowed"),
        (["path": "rooms", "do": "list"], "Denied"),
    ])
    func `judges a question`(question: [String: String], verdict: String) async throws {
        server.setRules(RulesSettings(try Ruleset(file)))
        #expect(try await page(question).contains("<strong>\(verdict)</strong>"))
        let json = try await page(question, section: "rules.json")
        #expect(json.contains("\"allowed\":\(verdict == "Allowed")"))
        #expect(server.judgedRequests().isEmpty, "a question is no request")
    }

    @Test(arguments: [
        (["path": "rooms"], "names a collection, not a document"),
        (["path": "rooms/a", "do": "create", "data": "open"], "The fields must be JSON"),
        (["path": "rooms/a", "as": "ann", "token": "{"], "The token must be JSON"),
        (["path": "rooms", "do": "list", "data": "[]"], "The query must be"),
        (["path": "rooms/a", "do": "steal"], "A case has no key"),
    ])
    func `says what is no question`(question: [String: String], sentence: String) async throws {
        server.setRules(RulesSettings(try Ruleset(file)))
        #expect(try await page(question).contains(sentence))
    }

    @Test func `shows the rules of each database`() async throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("\(UUID().uuidString).rules").path
        try "service cloud.firestore { }".write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        server.setRules(RulesSettings(try Ruleset(file)))
        let watch = try RulesFileWatch(
            path, for: server, of: .database("second"), settings: { RulesSettings($0) },
            say: { _ in })
        let console = Console(
            server, traffic: RecordedTransport(server) { 1_000_000 },
            databaseRules: ["second": watch])
        func page(_ database: String) async throws -> String {
            let request = PageRequest(
                path: ["rules"], query: [PageRequest.Parameter("database", database)])
            let answer = try #require(await console.answer(request))
            guard case .bytes(let bytes) = answer.body else { return "" }
            return String(decoding: bytes, as: UTF8.self)
        }
        let second = try await page("second")
        #expect(second.contains("<strong><bdi>second</bdi></strong>: \(path)"))
        #expect(second.contains("data-database=\"second\"") && !second.contains("&lt;b&gt;"))
        let first = try await page("(default)")
        #expect(first.contains("<strong><bdi>(default)</bdi></strong>"))
        #expect(first.contains("&lt;b&gt;") && first.contains("database=second"))
    }
}
