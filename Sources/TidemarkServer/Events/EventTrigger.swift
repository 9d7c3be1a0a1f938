package import TidemarkModel

/// A function that is called for changes of documents.
package struct EventTrigger: Sendable {
    /// The name of the registration, unique in its project. Tools write `REGION-NAME-GENERATION`.
    package let key: String
    package let database: DatabaseID
    package let type: EventType
    package let pattern: TriggerPattern
    /// The URL of the function's host. Nil for a function that a tool has registered: the emulator
    /// of functions calls it by its key.
    package let address: String?

    /// The maximum length of a key and of an address, in bytes.
    package static let maxTextBytes = 2_048

    /// - Throws: ``InvalidTrigger`` if the key or the address is empty or too long.
    package init(
        key: String, database: DatabaseID, type: EventType, pattern: TriggerPattern,
        address: String? = nil
    ) throws(InvalidTrigger) {
        for text in [key, address ?? key] where !(1...Self.maxTextBytes).contains(text.utf8.count) {
            throw InvalidTrigger(
                "A trigger's key and address have 1 to \(Self.maxTextBytes) bytes.")
        }
        self.key = key
        self.database = database
        self.type = type
        self.pattern = pattern
        self.address = address
    }

    func includes(_ difference: DocumentDifference) -> Bool {
        type.includes(wasThere: difference.before != nil, isThere: difference.after != nil)
            && pattern.matches(difference.path)
    }
}

/// A trigger with the key of its row.
struct EventRegistration: Sendable {
    let id: Int64
    var trigger: EventTrigger
}

/// Finds the triggers of a change. It looks up the id of the document's collection first, so that
/// triggers on other collections cost nothing.
struct TriggerIndex: Sendable {
    private struct Entries: Sendable {
        var byCollection: [ByteString: [EventRegistration]] = [:]
        /// The triggers whose documents can lie in several collections.
        var others: [EventRegistration] = []
    }

    private var databases: [DatabaseID: Entries] = [:]

    init() {}

    /// - Parameter registrations: The triggers, in the order in which they are found.
    init(_ registrations: some Sequence<EventRegistration>) {
        for registration in registrations {
            let trigger = registration.trigger
            if let id = trigger.pattern.collectionID {
                databases[trigger.database, default: Entries()]
                    .byCollection[ByteString(id), default: []].append(registration)
            } else {
                databases[trigger.database, default: Entries()].others.append(registration)
            }
        }
    }

    var isEmpty: Bool { databases.isEmpty }

    /// Returns true if the index has a trigger on a database.
    func concerns(_ database: DatabaseID) -> Bool { databases[database] != nil }

    func registrations(
        for difference: DocumentDifference, in database: DatabaseID
    ) -> [EventRegistration] {
        guard let entries = databases[database] else { return [] }
        var found = entries.others
        if !entries.byCollection.isEmpty {
            let id = ByteString(difference.path.collectionID)
            found += entries.byCollection[id] ?? []
        }
        return found.filter { $0.trigger.includes(difference) }
    }
}

/// The identity of a trigger: its key in its project, compared by bytes.
struct TriggerKey: Hashable {
    private let project: ByteString
    private let key: ByteString

    init(project: String, key: String) {
        self.project = ByteString(project)
        self.key = ByteString(key)
    }

    init(_ trigger: EventTrigger) {
        self.init(project: trigger.database.project, key: trigger.key)
    }
}
