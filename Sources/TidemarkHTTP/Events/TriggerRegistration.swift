import Foundation
import TidemarkModel
import TidemarkServer

/// Reads registrations of functions in the form of Firebase's tools. Source: functions-events 2.
enum TriggerRegistration {
    private struct First: Decodable {
        struct Trigger: Decodable {
            let eventType: String
            let resource: String
        }

        let eventTrigger: Trigger
    }

    private struct Second: Decodable {
        struct Document: Decodable {
            let value: String
            let matchType: String?
        }

        let eventType: String
        let database: String?
        let namespace: String?
        let document: Document
    }

    /// Reads a function of the first generation, whose resource names the documents.
    ///
    /// - Throws: ``InvalidTrigger`` with a sentence.
    static func first(
        _ body: [UInt8], key: String, project: String
    ) throws(InvalidTrigger) -> EventTrigger {
        guard let sent = try? JSONDecoder().decode(First.self, from: Data(body)) else {
            throw InvalidTrigger(
                "The body must be {\"eventTrigger\": {\"eventType\": TYPE, \"resource\": NAME}}.")
        }
        let trigger = sent.eventTrigger
        let type = try eventType(trigger.eventType, of: .first)
        let parts = trigger.resource.split(
            separator: "/", maxSplits: 5, omittingEmptySubsequences: false
        ).map(String.init)
        guard parts.count == 6, parts[0] == "projects", parts[2] == "databases",
            parts[4] == "documents"
        else {
            throw InvalidTrigger(
                """
                The resource must be projects/P/databases/D/documents/PATTERN, and not \
                \"\(trigger.resource.prefix(200))\".
                """)
        }
        if !parts[1].hasSameBytes(as: project) {
            throw InvalidTrigger("The resource is of project \(parts[1]), and not of \(project).")
        }
        return try EventTrigger(
            key: key, database: try database(parts[3], of: project), type: type,
            pattern: try TriggerPattern(parts[5]))
    }

    /// Reads a function of the second generation.
    ///
    /// - Throws: ``InvalidTrigger`` with a sentence.
    static func second(
        _ body: [UInt8], key: String, project: String
    ) throws(InvalidTrigger) -> EventTrigger {
        guard let sent = try? JSONDecoder().decode(Second.self, from: Data(body)) else {
            throw InvalidTrigger(
                """
                The body must be {"eventType": TYPE, "database": ID, "document": {"value": \
                PATTERN, "matchType": "EXACT" or "PATH_PATTERN"}}.
                """)
        }
        if let namespace = sent.namespace, !["", "(default)"].contains(namespace) {
            throw InvalidTrigger("Firestore has no namespace \"\(namespace.prefix(200))\".")
        }
        let isLiteral: Bool
        switch sent.document.matchType {
        case "EXACT"?: isLiteral = true
        case "PATH_PATTERN"?, nil: isLiteral = false
        case let other?:
            throw InvalidTrigger(
                "The matchType must be EXACT or PATH_PATTERN, and not \"\(other.prefix(200))\".")
        }
        let id = sent.database ?? ""
        return try EventTrigger(
            key: key, database: try database(id.isEmpty ? "(default)" : id, of: project),
            type: try eventType(sent.eventType, of: .second),
            pattern: try TriggerPattern(sent.document.value, isLiteral: isLiteral))
    }

    private static func eventType(
        _ name: String, of generation: EventType.Generation
    ) throws(InvalidTrigger) -> EventType {
        guard let type = EventType(name: name), type.generation == generation else {
            let names = EventType.all.filter { $0.generation == generation }.map(\.name)
            throw InvalidTrigger(
                """
                The event type \"\(name.prefix(200))\" is unknown. Known types: \
                \(names.joined(separator: ", ")).
                """)
        }
        return type
    }

    static func database(
        _ id: String, of project: String
    ) throws(InvalidTrigger) -> DatabaseID {
        do throws(InvalidPath) {
            return try DatabaseID(project: project, database: id)
        } catch { throw InvalidTrigger(error.message) }
    }
}
