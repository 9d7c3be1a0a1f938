import Foundation
import TidemarkModel
import TidemarkREST
package import TidemarkServer

/// The HTTP request that delivers an event to a function. It is always a `POST`.
///
/// Source: functions-events 3. The first generation gets JSON, the second a CloudEvent in binary
/// mode with a protobuf body.
package struct EventMessage: Hashable, Sendable {
    package struct Header: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    package let headers: [Header]
    package let body: [UInt8]

    /// - Parameter isText: True to encode a protobuf body as base64 text, as the emulator of
    ///   functions expects. A function itself expects the bytes.
    package init(_ event: DocumentEvent, isText: Bool) {
        switch event.trigger.type.generation {
        case .first:
            headers = [Header(name: "content-type", value: "application/json")]
            body = Self.json(event)
        case .second:
            headers = Self.cloudHeaders(event)
            let bytes = Self.protobuf(event)
            body = isText ? Array(Data(bytes).base64EncodedString().utf8) : bytes
        }
    }

    /// Returns the path at which the emulator of functions takes the events of a trigger.
    package static func emulatorPath(of trigger: EventTrigger) -> String {
        "/functions/projects/\(encoded(trigger.database.project))/triggers/\(encoded(trigger.key))"
    }

    private static func encoded(_ segment: String) -> String {
        var allowed = CharacterSet.urlPathAllowed
        allowed.remove("/")
        return segment.addingPercentEncoding(withAllowedCharacters: allowed) ?? segment
    }

    private static func json(_ event: DocumentEvent) -> [UInt8] {
        Array(
            DocumentEventJSON.data(
                after: event.after, before: event.before, fieldPaths: event.updateMask,
                context: DocumentEventJSON.Context(
                    eventID: event.id + "-0", type: event.trigger.type.name, time: event.time,
                    path: event.path, database: event.trigger.database)))
    }

    // MARK: The second generation

    private static let schema =
        "https://github.com/googleapis/google-cloudevents/blob/main/proto/google/events/cloud/"
        + "firestore/v1/data.proto"

    private static func cloudHeaders(_ event: DocumentEvent) -> [Header] {
        let database = event.trigger.database
        var values = [
            ("specversion", "1.0"), ("id", event.id), ("type", event.trigger.type.name),
            ("source", "//firestore.googleapis.com/\(database.name)"),
            ("subject", "documents/\(event.path.text)"), ("time", event.time.rfc3339),
            ("datacontenttype", "application/protobuf"), ("dataschema", schema),
            ("location", "us-central1"), ("project", database.project),
            ("database", database.database), ("namespace", "(default)"),
            ("document", event.path.text),
        ]
        if event.trigger.type.hasAuthContext {
            // Python's library needs the id even if it is empty.
            values.append(("authtype", event.author.kind.rawValue))
            values.append(("authid", event.author.id))
        }
        return [Header(name: "content-type", value: "application/protobuf")]
            + values.map { Header(name: "ce-" + $0.0, value: headerText($0.1)) }
    }

    /// Encodes what a header cannot hold, as the HTTP binding of CloudEvents says: all but visible
    /// ASCII, and also the quotation mark and the percent sign.
    static func headerText(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let isPlain =
                (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"")
                && byte != UInt8(ascii: "%")
            if isPlain {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }

    /// Returns a `google.events.cloud.firestore.v1.DocumentEventData`. Its documents have the
    /// numbers of `google.firestore.v1.Document`, so the stored fields are copied.
    private static func protobuf(_ event: DocumentEvent) -> [UInt8] {
        var writer = WireWriter()
        if let after = event.after { writer.data(1, document(after, of: event)) }
        if let before = event.before { writer.data(2, document(before, of: event)) }
        if event.after != nil {
            let paths = event.updateMask
            writer.message(3) { mask in
                for path in paths { mask.text(1, path.encoded) }
            }
        }
        return writer.bytes
    }

    private static func document(_ document: Document, of event: DocumentEvent) -> [UInt8] {
        DocumentCodec.encode(
            WireDocument(
                name: document.path.name(in: event.trigger.database), contents: document.contents,
                createTime: document.createTime, updateTime: document.updateTime))
    }
}
