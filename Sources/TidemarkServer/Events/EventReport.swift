import TidemarkModel

/// The state of all triggers and their events, in the form of `GET /tidemark/v1/triggers`.
package struct EventReport: Encodable, Sendable {
    package struct Trigger: Encodable, Sendable {
        package let key, project, database, type, document: String
        /// The URL of the function's host; nil for a function that a tool has registered.
        package let address: String?
        /// False while the function's host is unknown or cannot be reached.
        package let isReachable: Bool
        /// The number of events that wait, were set aside, and were delivered by this process.
        package let waiting, setAside, delivered: Int
        /// The commit time of the event that was delivered last, by this process.
        package let lastDelivered: String?
        package let lastError: String?
        /// The number of events that seem to have caused each other; 0 if none did.
        package let longestChain: Int
    }

    package struct Event: Encodable, Sendable {
        package let id, trigger, document, time: String
        /// The reason why the event was set aside; nil for a delivered one.
        package let reason: String?
    }

    /// The maximum number of listed events of each kind.
    package static let maxEvents = 100

    package let isPaused: Bool
    /// The number of events that are not delivered, including those under way.
    package let waiting: Int
    package let underWay: Int
    /// The approximate bytes of all stored events.
    package let bytes: Int
    package let triggers: [Trigger]
    /// The newest events that were set aside, and that were delivered, newest first.
    package let setAside, delivered: [Event]
}

extension EventReport.Trigger {
    init(
        _ trigger: EventTrigger, isReachable: Bool, waiting: Int, setAside: Int, delivered: Int,
        lastDelivered: Timestamp?, lastError: String?, longestChain: Int
    ) {
        self.init(
            key: trigger.key, project: trigger.database.project,
            database: trigger.database.database, type: trigger.type.name,
            document: trigger.pattern.text, address: trigger.address, isReachable: isReachable,
            waiting: waiting, setAside: setAside, delivered: delivered,
            lastDelivered: lastDelivered?.rfc3339, lastError: lastError,
            longestChain: longestChain)
    }
}
