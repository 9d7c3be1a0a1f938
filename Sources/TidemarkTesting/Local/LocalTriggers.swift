import Synchronization
public import TidemarkModel
import TidemarkServer
import TidemarkStore

/// Functions of a test that a ``LocalFirestore`` calls for changes of documents, as Cloud Functions
/// are called in production.
///
/// ```swift
/// try local.triggers.on(.created("rooms/{room}")) { event in
///     let room = event.parameters["room"] ?? ""
///     try await admin.document("counts/\(room)").setData(["messages": 0])
/// }
/// try await phone.document("rooms/blue").setData(["open": true])
/// try await local.triggers.waitUntilIdle()
/// ```
///
/// A function gets the changes of a document one by one, and different documents at the same time,
/// up to 16. A function that throws is not called again for that change; the next
/// ``waitUntilIdle()`` throws its error. Going back to a snapshot calls no function. Thread-safe.
public final class LocalTriggers: Sendable {
    /// The changes for which a function is called.
    public struct Trigger: Sendable {
        let kind: EventType.Kind
        let documents: String

        /// Selects documents that did not exist before.
        ///
        /// - Parameter documents: A path with wildcards: `{name}` for one segment, `{name=**}` for
        ///   one or more.
        public static func created(_ documents: String) -> Trigger {
            Trigger(kind: .created, documents: documents)
        }

        /// Selects documents of which a field has changed.
        ///
        /// - Parameter documents: A path, as for ``created(_:)``.
        public static func updated(_ documents: String) -> Trigger {
            Trigger(kind: .updated, documents: documents)
        }

        /// Selects documents that exist no longer.
        ///
        /// - Parameter documents: A path, as for ``created(_:)``.
        public static func deleted(_ documents: String) -> Trigger {
            Trigger(kind: .deleted, documents: documents)
        }

        /// Selects created, updated and deleted documents.
        ///
        /// - Parameter documents: A path, as for ``created(_:)``.
        public static func written(_ documents: String) -> Trigger {
            Trigger(kind: .written, documents: documents)
        }
    }

    /// A change of a document.
    public struct Event: Sendable {
        public let id: String
        public let path: DocumentPath
        /// The parts of the path, by the names of the wildcards.
        public let parameters: [String: String]
        /// The time of the commit.
        public let time: Timestamp
        /// The document before the commit; nil if it did not exist.
        public let before: Document?
        /// The document after the commit; nil if it does not exist.
        public let after: Document?

        init(_ event: DocumentEvent) {
            id = event.id
            path = event.path
            parameters = event.trigger.pattern.parameters(in: event.path)
            time = event.time
            before = event.before
            after = event.after
        }
    }

    private let events: ServerEvents
    private let projectID: String
    private let functions = LocalFunctions()

    init(_ server: FirestoreServer, projectID: String) {
        events = ServerEvents(server)
        self.projectID = projectID
    }

    /// Calls a function for each later change.
    ///
    /// - Parameters:
    ///   - trigger: The changes.
    ///   - databaseID: The database of the documents.
    ///   - function: The function. It may read and write by any client of the server.
    /// - Throws: `RPCStatus` if the path is invalid, or if there are 1,000 functions already.
    public func on(
        _ trigger: Trigger, databaseID: String = "(default)",
        _ function: @escaping @Sendable (Event) async throws -> Void
    ) throws(RPCStatus) {
        let database: DatabaseID
        let pattern: TriggerPattern
        do {
            database = try DatabaseID(project: projectID, database: databaseID)
            pattern = try TriggerPattern(trigger.documents)
        } catch let error as InvalidTrigger {
            throw .invalidArgument(error.message)
        } catch let error as InvalidPath {
            throw RPCStatus(error)
        } catch { throw RPCStatus(.internal, "\(error)") }
        try start()
        let key = functions.add(function)
        let parsed: EventTrigger
        do throws(InvalidTrigger) {
            parsed = try EventTrigger(
                key: key, database: database, type: EventType(trigger.kind), pattern: pattern,
                address: key)
        } catch { throw .invalidArgument(error.message) }
        try events.register(parsed)
    }

    private func start() throws(RPCStatus) {
        guard functions.begin() else { return }
        do throws(StoreError) { try events.start(functions, maxAttempts: 1) } catch {
            throw RPCStatus(.unavailable, error.message)
        }
    }

    /// Waits until every function has ended for all earlier changes, and for those that functions
    /// make meanwhile.
    ///
    /// - Throws: `RPCStatus` with the error of a function that has thrown since the last call.
    public func waitUntilIdle() async throws(RPCStatus) {
        // Time stands still in a test, so the limit is never reached.
        _ = await events.waitUntilIdle(within: .seconds(86_400))
        if let failure = functions.takeFailure() { throw RPCStatus(.aborted, failure) }
    }
}

/// The functions of a test, by their keys.
private final class LocalFunctions: EventReceiver {
    typealias Function = @Sendable (LocalTriggers.Event) async throws -> Void

    private struct State {
        var functions: [String: Function] = [:]
        var hasBegun = false
        var failures: [String] = []
    }

    private let state = Mutex(State())

    /// Returns true at the first call.
    func begin() -> Bool {
        state.withLock { state in
            defer { state.hasBegun = true }
            return !state.hasBegun
        }
    }

    /// - Returns: The key of the function.
    func add(_ function: @escaping Function) -> String {
        state.withLock { state in
            let key = "function-\(state.functions.count + 1)"
            state.functions[key] = function
            return key
        }
    }

    /// Returns the first error since the last call, and drops the others.
    func takeFailure() -> String? {
        state.withLock { state in
            defer { state.failures = [] }
            return state.failures.first
        }
    }

    func reaches(_ trigger: EventTrigger) -> Bool { trigger.address != nil }

    func deliver(_ event: DocumentEvent, done: @escaping @Sendable (DeliveryAnswer) -> Void) {
        guard let function = state.withLock({ $0.functions[event.trigger.key] }) else {
            return done(.unknownKey)
        }
        Task {
            do {
                try await function(LocalTriggers.Event(event))
                done(.delivered)
            } catch {
                let reason = "A function failed for \(event.path): \(error)"
                state.withLock { $0.failures.append(reason) }
                done(.refused(reason))
            }
        }
    }
}
