package import Foundation
import TidemarkModel
package import TidemarkServer

/// A file of functions for `tidemark serve --triggers`:
/// `{"project": "demo", "triggers": [{"key": "onRoom", "event": "written", "document":
/// "rooms/{id}"}]}`.
package enum TriggerFile {
    private struct Contents: Decodable {
        let project: String?
        let triggers: [Entry]
    }

    private struct Entry: Decodable {
        let key: String
        /// A short name, such as `written`, or the full name of a type.
        let event: String
        let document: String
        let database: String?
        let project: String?
        let url: String?
        let withAuthContext: Bool?
    }

    /// - Parameters:
    ///   - data: The contents of the file.
    ///   - address: The URL of functions without a `url`; nil for none.
    /// - Throws: ``InvalidTrigger`` with a sentence.
    package static func triggers(
        in data: Data, address: String?
    ) throws(InvalidTrigger) -> [EventTrigger] {
        guard let contents = try? JSONDecoder().decode(Contents.self, from: data) else {
            throw InvalidTrigger(
                """
                The file must be {"project": ID, "triggers": [{"key": NAME, "event": "written", \
                "document": PATTERN, "url": URL}, …]}.
                """)
        }
        if contents.triggers.count > maxTriggers {
            throw InvalidTrigger("A file has at most \(maxTriggers) triggers.")
        }
        var keys: Set<ByteString> = []
        var triggers: [EventTrigger] = []
        for entry in contents.triggers {
            let project = entry.project ?? contents.project ?? ""
            if project.isEmpty {
                throw InvalidTrigger("The trigger \(entry.key) has no project.")
            }
            if !keys.insert(ByteString(project + "/" + entry.key)).inserted {
                throw InvalidTrigger("The key \(entry.key) is there twice.")
            }
            triggers.append(try trigger(entry, project: project, address: address))
        }
        return triggers
    }

    package static let maxTriggers = 1_000

    private static func trigger(
        _ entry: Entry, project: String, address: String?
    ) throws(InvalidTrigger) -> EventTrigger {
        guard let address = entry.url ?? address else {
            throw InvalidTrigger(
                "The trigger \(entry.key) has no url, and --functions names none.")
        }
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme),
            url.host() != nil
        else { throw InvalidTrigger("\(address) is not the URL of a function.") }
        return try EventTrigger(
            key: entry.key,
            database: try TriggerRegistration.database(
                entry.database ?? "(default)", of: project),
            type: try eventType(of: entry), pattern: try TriggerPattern(entry.document),
            address: address)
    }

    private static func eventType(of entry: Entry) throws(InvalidTrigger) -> EventType {
        if let kind = EventType.Kind(rawValue: entry.event) {
            return EventType(kind, hasAuthContext: entry.withAuthContext ?? false)
        }
        guard let type = EventType(name: entry.event) else {
            throw InvalidTrigger(
                """
                The event \"\(entry.event.prefix(200))\" of \(entry.key) is unknown. Use created, \
                updated, deleted or written.
                """)
        }
        return type
    }
}
