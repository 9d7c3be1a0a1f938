import Foundation
import Synchronization
import Testing
import TidemarkModel
import TidemarkServer

@testable import TidemarkHTTP

/// Takes every event at once.
private final class EventList: EventReceiver {
    private let taken = Mutex<[DocumentEvent]>([])

    var events: [DocumentEvent] { taken.withLock { $0 } }

    func reaches(_ trigger: EventTrigger) -> Bool { true }

    func deliver(_ event: DocumentEvent, done: @escaping @Sendable (DeliveryAnswer) -> Void) {
        taken.withLock { $0.append(event) }
        done(.delivered)
    }
}

struct `Triggers over HTTP` {
    private let list = EventList()
    private let server: FirestoreServer

    init() throws {
        server = try FirestoreServer(FirestoreServer.Configuration())
        try ServerEvents(server).start(list)
    }

    private func ask(
        _ method: String, _ path: String, _ body: String = "", query: [(String, String)] = []
    ) async throws -> (status: Int, text: String) {
        let request = PageRequest(
            method: method, path: path.split(separator: "/").map(String.init),
            query: query.map { PageRequest.Parameter($0.0, $0.1) }, body: Array(body.utf8))
        let answer = try #require(await TriggerEndpoint(server).answer(request))
        guard case .bytes(let bytes) = answer.body else { return (answer.status, "") }
        return (answer.status, String(decoding: bytes, as: UTF8.self))
    }

    private func write(_ path: String, _ fields: MapValue) async throws {
        let context = CallContext(database: try DatabaseID(project: "p"), token: "owner")
        let mutation = Mutation(path: try DocumentPath(path), .set(fields))
        _ = try await server.commit([mutation], context)
    }

    private let first = """
        {"eventTrigger": {"eventType": "providers/cloud.firestore/eventTypes/document.write", \
        "resource": "projects/p/databases/(default)/documents/rooms/{id}", \
        "service": "firestore.googleapis.com"}}
        """
    private let second = """
        {"eventType": "google.cloud.firestore.document.v1.created", "database": "(default)", \
        "namespace": "(default)", "document": {"value": "rooms/{id}", "matchType": "PATH_PATTERN"}}
        """

    @Test func `are registered in both generations, and then told`() async throws {
        let one = try await ask("PUT", "emulator/v1/projects/p/triggers/us-f-0", first)
        #expect(one.status == 200 && one.text == "{}")
        let place = "emulator/v1/projects/p/eventarcTrigger"
        let query = [("eventarcTriggerId", "us-g-0")]
        let two = try await ask("POST", place, second, query: query)
        #expect(two.status == 200 && two.text == second, "the body comes back")
        try await write("rooms/blue", ["n": .integer(1)])
        #expect(try await ask("POST", "tidemark/v1/triggers:idle").status == 200)
        #expect(Set(list.events.map(\.trigger.key)) == ["us-f-0", "us-g-0"])
        try await write("rooms/blue", ["n": .integer(2)])
        #expect(try await ask("POST", "tidemark/v1/triggers:idle").status == 200)
        #expect(list.events.count == 3, "a second write creates nothing")
        #expect(try await ask("DELETE", "emulator/v1/projects/p/triggers/us-g-0").status == 200)
        #expect(try await ask("DELETE", "emulator/v1/projects/p/triggers/us-g-0").status == 404)
    }

    @Test func `are refused with Google's form of an error`() async throws {
        let place = "emulator/v1/projects/p/triggers/f"
        for (body, word) in [
            ("", "eventTrigger"), (first.replacing("document.write", with: "x"), "unknown"),
            (first.replacing("projects/p", with: "projects/q"), "project q"),
            (first.replacing("rooms/{id}", with: "rooms"), "names a collection"),
            (first.replacing("/documents", with: "/papers"), "resource must be"),
        ] {
            let answer = try await ask("PUT", place, body)
            #expect(answer.status == 400 && answer.text.contains(word), "\(answer.text)")
            #expect(answer.text.contains("\"status\":\"INVALID_ARGUMENT\""))
        }
        let other = "emulator/v1/projects/p/eventarcTrigger"
        #expect(try await ask("POST", other, second).status == 400, "no key")
        for (old, new) in [
            ("v1.created", "v1.made"), ("PATH_PATTERN", "REGEX"), ("rooms/{id}", "rooms/{id"),
            (#""namespace": "(default)""#, #""namespace": "mine""#),
        ] {
            let answer = try await ask(
                "POST", other, second.replacing(old, with: new),
                query: [("eventarcTriggerId", "g")])
            #expect(answer.status == 400, "\(new): \(answer.text)")
        }
        #expect(try await ask("GET", place).status == 405)
    }

    @Test func `are paused, reported and repeated`() async throws {
        _ = try await ask("PUT", "emulator/v1/projects/p/triggers/f", first)
        #expect(try await ask("POST", "tidemark/v1/triggers:pause").status == 200)
        try await write("rooms/blue", [:])
        #expect(try await ask("POST", "tidemark/v1/triggers:idle").status == 409)
        #expect(list.events.isEmpty)
        #expect(try await ask("POST", "tidemark/v1/triggers:resume").status == 200)
        let idle = try await ask("POST", "tidemark/v1/triggers:idle", query: [("timeout", "30")])
        #expect(idle.status == 200 && idle.text.contains("\"waiting\":0"))
        let id = try #require(list.events.first?.id)
        let again = try await ask("POST", "tidemark/v1/triggers:repeat", query: [("event", id)])
        #expect(again.status == 200)
        _ = try await ask("POST", "tidemark/v1/triggers:idle")
        #expect(list.events.map(\.id) == [id, id])
        let report = try await ask("GET", "tidemark/v1/triggers").text
        #expect(report.contains("\"key\":\"f\"") && report.contains("\"delivered\":2"))
        let wrong = try await ask("POST", "tidemark/v1/triggers:idle", query: [("timeout", "x")])
        #expect(wrong.status == 400)
        let none = try await ask("POST", "tidemark/v1/triggers:repeat", query: [("event", "x")])
        #expect(none.status == 404)
    }

    @Test func `are turned off and on at the hub`() async throws {
        _ = try await ask("PUT", "emulator/v1/projects/p/triggers/f", first)
        let hub = EmulatorHub(host: "127.0.0.1", version: "test")
        hub.set(ServerEvents(server))
        for (verb, count) in [("disable", 0), ("enable", 1)] {
            let path = ["functions", verb + "BackgroundTriggers"]
            let answer = await hub.answer(PageRequest(method: "PUT", path: path))
            #expect(answer?.status == 200)
            try await write("rooms/\(verb)", [:])
            _ = try await ask("POST", "tidemark/v1/triggers:idle")
            #expect(list.events.count == count)
        }
    }

    @Test func `leave other paths alone`() async throws {
        for path in ["emulator/v1/projects/p:securityRules", "tidemark/v1/meter", "v1/projects"] {
            let request = PageRequest(path: path.split(separator: "/").map(String.init))
            #expect(await TriggerEndpoint(server).answer(request) == nil, "\(path)")
        }
    }

    @Test func `are read from a file`() throws {
        let text = """
            {"project": "p", "triggers": [
                {"key": "a", "event": "written", "document": "rooms/{id}"},
                {"key": "b", "event": "created", "withAuthContext": true, "document": "x/{id}",
                 "database": "other", "url": "http://127.0.0.1:9/b", "project": "q"}]}
            """
        let triggers = try TriggerFile.triggers(
            in: Data(text.utf8), address: "http://127.0.0.1:8")
        #expect(triggers.map(\.address) == ["http://127.0.0.1:8", "http://127.0.0.1:9/b"])
        #expect(triggers.map(\.database.name)[1] == "projects/q/databases/other")
        #expect(
            triggers.map(\.type) == [
                EventType(.written), EventType(.created, hasAuthContext: true),
            ])
        for (old, new) in [
            ("\"key\": \"b\"", "\"key\": \"a\", \"project\": \"p\""), ("written", "wrote"),
            ("rooms/{id}", "rooms"), ("http://127.0.0.1:9/b", "127.0.0.1"),
            ("\"triggers\"", "\"functions\""),
        ] {
            let wrong = Data(text.replacing(old, with: new).utf8)
            #expect(throws: InvalidTrigger.self, "\(new)") {
                try TriggerFile.triggers(in: wrong, address: "http://127.0.0.1:8")
            }
        }
        #expect(throws: InvalidTrigger.self) {
            try TriggerFile.triggers(in: Data(text.utf8), address: nil)
        }
    }
}
