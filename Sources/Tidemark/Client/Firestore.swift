import Foundation
import Synchronization

/// One database of one project, with its cache on this device.
///
/// Thread-safe. Keep one for as long as the app runs; ``terminate()`` ends its use.
public final class Firestore: Sendable {
    public let databaseID: DatabaseID
    public let settings: FirestoreSettings
    package let engine: SyncEngine
    package let environment: SyncEnvironment
    /// Where listeners are called, one after the other.
    let callbackQueue: DispatchQueue
    private let connection: Connection?
    private let isTerminated = Mutex(false)

    /// Opens the cache. The server is called when there is something to ask.
    ///
    /// - Throws: ``FirestoreError`` when the settings name no host, or the cache cannot be opened:
    ///   ``FirestoreError/storageFault`` says why, and at once; one that another process or client has
    ///   open is `locked`.
    public convenience init(
        projectID: String, databaseID: String = "(default)",
        settings: FirestoreSettings = FirestoreSettings()
    ) throws(FirestoreError) {
        let server = try settings.server(environment: ProcessInfo.processInfo.environment)
        let connection = Connection(server)
        try self.init(
            projectID: projectID, databaseID: databaseID, settings: settings,
            environment: Wiring.environment(connection), connection: connection)
    }

    /// On a transport, scheduler, clock and dice of the caller's.
    package init(
        projectID: String, databaseID: String = "(default)", settings: FirestoreSettings,
        environment: SyncEnvironment, connection: Connection? = nil
    ) throws(FirestoreError) {
        do throws(InvalidPath) {
            self.databaseID = try DatabaseID(project: projectID, database: databaseID)
        } catch { throw FirestoreError(error) }
        if let size = settings.cacheSizeBytes, size < FirestoreSettings.smallestCache {
            throw .invalidArgument("A cache of \(size) bytes is too small: it takes 1 MiB.")
        }
        self.settings = settings
        self.environment = environment
        self.connection = connection
        callbackQueue = DispatchQueue(label: "tidemark.callbacks")
        let configuration = SyncEngine.Configuration(
            database: self.databaseID, cacheFile: settings.cacheFile(of: self.databaseID),
            user: settings.user, sharesCacheBetweenUsers: settings.sharesCacheBetweenUsers,
            label: settings.label, cacheSizeBytes: settings.cacheSizeBytes, token: settings.token)
        do throws(SyncError) { engine = try SyncEngine(configuration, environment) } catch {
            throw FirestoreError(error)
        }
    }

    /// Bytes sent to and received from the server since the start; nil on a transport of the caller's.
    package var traffic: (sent: Int, received: Int)? { connection?.traffic }
}

extension Firestore {
    /// The collection at a path of an odd number of segments, as in `rooms/blue/messages`. A path that
    /// is none makes every use of the reference throw `invalidArgument`.
    public func collection(_ path: String) -> CollectionReference {
        CollectionReference(
            self, Result.catching(path) { text throws(InvalidPath) in try CollectionPath(text) },
            text: path)
    }

    /// The document at a path of an even number of segments, as in `rooms/blue`. A path that is none
    /// makes every use of the reference throw `invalidArgument`.
    public func document(_ path: String) -> DocumentReference {
        DocumentReference(
            self, Result.catching(path) { text throws(InvalidPath) in try DocumentPath(text) },
            text: path)
    }

    /// All collections with this id, wherever they lie.
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

extension Firestore {
    /// Goes online again after ``disableNetwork()``.
    public func enableNetwork() async { await setNetwork(enabled: true) }

    /// Goes offline: reads are answered from the cache, writes queue.
    public func disableNetwork() async { await setNetwork(enabled: false) }

    private func setNetwork(enabled: Bool) async {
        await withCheckedContinuation { continuation in
            engine.setNetworkEnabled(enabled) { continuation.resume() }
        }
    }

    /// Returns when all writes that are pending now have been acknowledged or rejected.
    public func waitForPendingWrites() async throws(FirestoreError) {
        try await answer { finish in
            engine.waitForPendingWrites { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Stops everything and closes the cache. Every later use throws. Writes in the queue stay there,
    /// and are sent by the next client on the same cache.
    public func terminate() async {
        let isFirst = isTerminated.withLock { ended in
            defer { ended = true }
            return !ended
        }
        guard isFirst else { return }
        await withCheckedContinuation { continuation in
            engine.terminate { continuation.resume() }
        }
        await connection?.close()
    }

    /// Deletes the caches of all users of this database, with the writes that were never sent.
    ///
    /// - Throws: `failedPrecondition` unless ``terminate()`` has returned.
    public func clearPersistence() async throws(FirestoreError) {
        guard isTerminated.withLock({ $0 }) else {
            throw FirestoreError(
                .failedPrecondition, "Terminate the client before its cache is cleared.")
        }
        guard let file = settings.cacheFile(of: databaseID) else { return }
        do throws(SyncError) { try SyncEngine.eraseCaches(file) } catch {
            throw FirestoreError(error)
        }
    }
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
