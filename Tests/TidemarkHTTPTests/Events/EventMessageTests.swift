import Foundation
import Testing
import TidemarkModel
import TidemarkServer

@testable import TidemarkHTTP

struct `Messages to functions` {
    private func document(
        _ path: String, _ fields: MapValue, at seconds: Int64
    ) throws -> Document {
        Document(
            path: try DocumentPath(path), fields: fields,
            createTime: Timestamp(seconds: 5, nanoseconds: 0),
            updateTime: Timestamp(seconds: seconds, nanoseconds: 0))
    }

    /// Returns an event of a document that was made at second 5 and changed at second 9.
    private func event(
        _ type: EventType, path: String = "c/a", before: MapValue?, after: MapValue?,
        author: EventAuthor = EventAuthor(.apiKey, id: "ann")
    ) throws -> DocumentEvent {
        DocumentEvent(
            id: "id-1",
            trigger: try EventTrigger(
                key: "us-f-0", database: DatabaseID(project: "p"), type: type,
                pattern: TriggerPattern("c/{id}")),
            path: try DocumentPath(path), time: Timestamp(seconds: 9, nanoseconds: 120_000),
            before: try before.map { try document(path, $0, at: 5) },
            after: try after.map { try document(path, $0, at: 9) }, author: author)
    }

    private func headers(_ message: EventMessage) -> [String: String] {
        Dictionary(message.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }

    @Test func `of the second generation are CloudEvents in binary mode`() throws {
        let type = EventType(.updated, hasAuthContext: true)
        let event = try event(type, before: ["n": .integer(1)], after: ["n": .integer(2)])
        let message = EventMessage(event, isText: false)
        #expect(
            headers(message) == [
                "content-type": "application/protobuf", "ce-specversion": "1.0", "ce-id": "id-1",
                "ce-type": "google.cloud.firestore.document.v1.updated.withAuthContext",
                "ce-source": "//firestore.googleapis.com/projects/p/databases/(default)",
                "ce-subject": "documents/c/a", "ce-time": "1970-01-01T00:00:09.000120Z",
                "ce-datacontenttype": "application/protobuf",
                "ce-dataschema": "https://github.com/googleapis/google-cloudevents/blob/main/proto/"
                    + "google/events/cloud/firestore/v1/data.proto",
                "ce-location": "us-central1", "ce-project": "p", "ce-database": "(default)",
                "ce-namespace": "(default)", "ce-document": "c/a", "ce-authtype": "api_key",
                "ce-authid": "ann",
            ])
        let text = EventMessage(event, isText: true)
        #expect(Data(base64Encoded: Data(text.body)) == Data(message.body))
        #expect(headers(text) == headers(message))
    }

    /// The bytes are written out by hand from the numbers in the protocol.
    @Test func `have the documents and the mask in protobuf`() throws {
        let name = Array("projects/p/databases/(default)/documents/c/a".utf8)
        func document(_ number: UInt8, time: UInt8) -> [UInt8] {
            let field: [UInt8] = [0x12, 7, 0x0A, 1, 0x6E, 0x12, 2, 0x10, number]
            return [0x0A, UInt8(name.count)] + name + field + [0x1A, 2, 8, 5, 0x22, 2, 8, time]
        }
        func part(_ tag: UInt8, _ bytes: [UInt8]) -> [UInt8] { [tag, UInt8(bytes.count)] + bytes }
        let (old, new) = (document(1, time: 5), document(2, time: 9))
        let one: MapValue = ["n": .integer(1)]
        let two: MapValue = ["n": .integer(2)]
        func body(_ before: MapValue?, _ after: MapValue?) throws -> [UInt8] {
            let event = try event(EventType(.written), before: before, after: after)
            return EventMessage(event, isText: false).body
        }
        let mask: [UInt8] = [0x1A, 3, 0x0A, 1, 0x6E]
        #expect(try body(one, two) == part(0x0A, new) + part(0x12, old) + mask)
        #expect(try body(nil, two) == part(0x0A, new) + [0x1A, 0])
        #expect(try body(one, nil) == part(0x12, old))
    }

    @Test func `of the first generation are JSON`() throws {
        let type = EventType(.written, generation: .first)
        let before: MapValue = ["a": .map(["b": .integer(1)]), "s": .string("é")]
        let after: MapValue = ["a": .map(["b": .integer(2)]), "s": .string("é")]
        let message = EventMessage(try event(type, before: before, after: after), isText: true)
        #expect(headers(message) == ["content-type": "application/json"])
        func document(_ number: String, _ time: String) -> [String: Any] {
            [
                "name": "projects/p/databases/(default)/documents/c/a",
                "fields": [
                    "a": ["mapValue": ["fields": ["b": ["integerValue": number]]]],
                    "s": ["stringValue": "é"],
                ],
                "createTime": "1970-01-01T00:00:05Z", "updateTime": time,
            ]
        }
        let expected: [String: Any] = [
            "data": [
                "value": document("2", "1970-01-01T00:00:09Z"),
                "oldValue": document("1", "1970-01-01T00:00:05Z"),
                "updateMask": ["fieldPaths": ["a.b"]],
            ],
            "context": [
                "eventId": "id-1-0", "timestamp": "1970-01-01T00:00:09.000120Z",
                "eventType": "providers/cloud.firestore/eventTypes/document.write",
                "resource": [
                    "name": "projects/p/databases/(default)/documents/c/a",
                    "service": "firestore.googleapis.com",
                ],
            ],
        ]
        let json = try JSONSerialization.jsonObject(with: Data(message.body))
        #expect(
            try JSONSerialization.data(withJSONObject: json, options: .sortedKeys)
                == JSONSerialization.data(withJSONObject: expected, options: .sortedKeys))
        let created = EventMessage(try event(type, before: nil, after: after), isText: true)
        let text = String(decoding: created.body, as: UTF8.self)
        #expect(text.contains("\"updateMask\":{}") && !text.contains("oldValue"))
    }

    @Test func `encode what a header cannot hold`() throws {
        #expect(EventMessage.headerText("c/caf\u{E9} \"%\r\n") == "c/caf%C3%A9%20%22%25%0D%0A")
        let event = try event(EventType(.written), path: "c/é", before: nil, after: [:])
        let values = headers(EventMessage(event, isText: false))
        #expect(values["ce-document"] == "c/%C3%A9" && values["ce-subject"] == "documents/c/%C3%A9")
    }

    @Test func `go to the key's path at the emulator of functions`() throws {
        let trigger = try EventTrigger(
            key: "us-a/b c-0", database: DatabaseID(project: "p"), type: EventType(.written),
            pattern: TriggerPattern("c/{id}"))
        #expect(
            EventMessage.emulatorPath(of: trigger)
                == "/functions/projects/p/triggers/us-a%2Fb%20c-0")
    }
}
