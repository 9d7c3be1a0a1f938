import Foundation
import Synchronization

/// One database of one project, with its cache on this device.
///
/// Thread-safe. Keep one for as long as the app runs; ``terminate()`` ends its use.
public final class Firestore: Sendable {
    public let databaseID: DatabaseID
    private let setup: Mutex<Setup>
    private let client = AtomicLazyReference<Client>()

    /// Opens the cache. A connection is made when there is something to ask the server.
    ///
    /// - Parameters:
    ///   - projectID: The project's id.
    ///   - databaseID: The database of the project.
    ///   - settings: How to reach the server, and where to keep the cache; copied.
    /// - Throws: ``FirestoreError`` when the settings name no host, or when the cache cannot be
    ///   opened: ``FirestoreError/storageFault`` says why. A cache that another client has open is
    ///   `locked`.
    public convenience init(
        projectID: String, databaseID: String = "(default)",
        settings: FirestoreSettings = FirestoreSettings()
    ) throws(FirestoreError) {
        try self.init(
            projectID: projectID, databaseID: databaseID, settings: settings, environment: nil)
    }

    /// On a transport, scheduler, clock and dice of the caller's.
    package convenience init(
        projectID: String, databaseID: String = "(default)", settings: FirestoreSettings,
        environment: SyncEnvironment
    ) throws(FirestoreError) {
        try self.init(
            projectID: projectID, databaseID: databaseID, settings: settings,
            environment: .some(environment))
    }

    private convenience init(
        projectID: String, databaseID: String, settings: FirestoreSettings,
        environment: SyncEnvironment?
    ) throws(FirestoreError) {
        do throws(InvalidPath) {
            self.init(
                try DatabaseID(project: projectID, database: databaseID),
                Setup(settings: settings.values, environment: environment))
        } catch { throw FirestoreError(error) }
        // The engine is there now, or says why it is not.
        let started = started
        if let fault = started.fault { throw fault }
    }

    /// Opens nothing before its first use.
    init(_ databaseID: DatabaseID, _ setup: Setup) {
        self.databaseID = databaseID
        self.setup = Mutex(setup)
    }

    /// The client's parts. The first use makes them, and waits for the cache to be opened; later
    /// ones take no lock.
    var started: Client {
        if let client = client.load() { return client }
        return setup.withLock { setup in
            if let client = client.load() { return client }
            return client.storeIfNil(setup.start(databaseID))
        }
    }

    package var engine: SyncEngine { started.engine }
    package var environment: SyncEnvironment { started.environment }
    /// Where listeners are called, one after the other.
    var callbackQueue: DispatchQueue { started.settings.dispatchQueue }
    package var readDeadline: Duration? { started.settings.readDeadline }
    /// Nil before the first use.
    var startedClient: Client? { client.load() }

    /// A copy of the settings. Set them before the first use; later changes are ignored and logged.
    public var settings: FirestoreSettings {
        get { FirestoreSettings(client.load()?.settings ?? setup.withLock(\.settings)) }
        set {
            let isLate = setup.withLock { setup in
                if client.load() != nil { return true }
                setup.settings = newValue.values
                return false
            }
            if isLate { Log.fault("Settings are set before the first use; these are ignored.") }
        }
    }

    /// Bytes sent to and received from the server since the start; nil on a transport of the
    /// caller's.
    package var traffic: (sent: Int, received: Int)? { started.connection?.traffic }

    /// Whether this client reads a copy of a cache that another client has open:
    /// ``FirestoreSettings/onBusyCache``.
    public var isReadOnly: Bool { started.engine.isReadOnly }
}

extension Firestore {
    /// The collection at a path of an odd number of segments, as in `rooms/blue/messages`. With an
    /// invalid path, every use of the reference throws `invalidArgument`.
    public func collection(_ path: String) -> CollectionReference {
        CollectionReference(
            self, Result.catching(path) { text throws(InvalidPath) in try CollectionPath(text) },
            text: path)
    }

    /// The document at a path of an even number of segments, as in `rooms/blue`. With an invalid
    /// path, every use of the reference throws `invalidArgument`.
    public func document(_ path: String) -> DocumentReference {
        DocumentReference(
            self, Result.catching(path) { text throws(InvalidPath) in try DocumentPath(text) },
            text: path)
    }

    /// A query for all collections with this id, at any place in the database.
    public func collectionGroup(_ id: String) -> Query {
        let path = Result.catching(id) { text throws(InvalidPath) in try CollectionPath(text) }
        guard case .success(let collection) = path, collection.parent == nil else {
            return Query(self, .failure(.invalidArgument("\"\(id)\" is no collection id.")))
        }
        return Query(self, .success(QueryValue(collectionID: id, allDescendants: true)))
    }

    /// Several writes that are applied together or not at all.
    public func batch() -> WriteBatch { WriteBatch(self) }
}

extension Result where Failure == FirestoreError {
    static func catching(
        _ text: String, _ parse: (String) throws(InvalidPath) -> Success
    ) -> Result {
        do throws(InvalidPath) { return .success(try parse(text)) } catch {
            return .failure(FirestoreError(error))
        }
    }
}
