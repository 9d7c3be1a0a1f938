import Dispatch
import Foundation
import Synchronization

/// A database of a project, with its cache on this device.
///
/// Thread-safe. Keep the client for as long as the app runs; ``terminate()`` ends its use.
public final class Firestore: Sendable {
    public let databaseID: DatabaseID
    private let setup: Mutex<Setup>
    private let client = AtomicLazyReference<Client>()
    /// The outbox of files, if the app has one.
    package let fileOutbox = WeakReference()
    /// The plans of pipelines that run on this device.
    package let plans = PipelinePlans()
    /// The reports about the network, for the outbox of files.
    package let network = NetworkReports()

    /// Opens the cache. The first request to the server makes a connection.
    ///
    /// - Parameters:
    ///   - projectID: The project's id.
    ///   - databaseID: The database of the project.
    ///   - settings: The address of the server and the place of the cache. The settings are copied.
    /// - Throws: ``FirestoreError`` if the settings name no host, or if the cache cannot be opened:
    ///   ``FirestoreError/storageFault`` states the reason. A cache that another client has open is
    ///   `locked`.
    public convenience init(
        projectID: String, databaseID: String = "(default)",
        settings: FirestoreSettings = FirestoreSettings()
    ) throws(FirestoreError) {
        try self.init(
            projectID: projectID, databaseID: databaseID, settings: settings, environment: nil)
    }

    /// Opens the cache with the caller's transport, scheduler, clock and random numbers.
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
        // At this point the engine exists, or states why it does not.
        let started = started
        if let fault = started.fault { throw fault }
    }

    /// Creates a client, which opens nothing before its first use.
    init(_ databaseID: DatabaseID, _ setup: Setup) {
        self.databaseID = databaseID
        self.setup = Mutex(setup)
    }

    /// The client's parts. The first use creates them, and waits until the cache is open; later
    /// uses take no lock.
    var started: Client {
        if let client = client.load() { return client }
        return setup.withLock { setup in
            if let client = client.load() { return client }
            return client.storeIfNil(setup.start(databaseID))
        }
    }

    package var engine: SyncEngine { started.engine }
    package var environment: SyncEnvironment { started.environment }
    /// The serial queue on which listeners are called.
    var callbackQueue: DispatchQueue { started.settings.dispatchQueue }

    /// Runs `body` after all snapshots that were passed to listeners before, so its result is not
    /// older than these snapshots.
    package func afterSnapshots(_ body: @escaping @Sendable () -> Void) {
        callbackQueue.async(execute: body)
    }
    package var readDeadline: Duration? { started.settings.readDeadline }
    /// The client; nil before the first use.
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
            if isLate {
                Log.fault(
                    """
                    Set the settings before the first use. These settings are ignored.
                    """)
            }
        }
    }

    /// Bytes sent to and received from the server since the start; nil on a transport of the
    /// caller's.
    package var traffic: (sent: Int, received: Int)? { started.connection?.traffic }

    /// True if this client reads a copy of a cache that another client has open: see
    /// ``FirestoreSettings/onBusyCache``.
    public var isReadOnly: Bool { started.engine.isReadOnly }
}

extension Firestore {
    /// Returns the collection at a path with an odd number of segments, such as
    /// `rooms/blue/messages`. With an invalid path, every use of the reference throws
    /// `invalidArgument`.
    public func collection(_ path: String) -> CollectionReference {
        CollectionReference(
            self, Result.catching(path) { text throws(InvalidPath) in try CollectionPath(text) },
            text: path)
    }

    /// Returns the document at a path with an even number of segments, such as `rooms/blue`. With
    /// an invalid path, every use of the reference throws `invalidArgument`.
    public func document(_ path: String) -> DocumentReference {
        DocumentReference(
            self, Result.catching(path) { text throws(InvalidPath) in try DocumentPath(text) },
            text: path)
    }

    /// A query for all collections with this id, at any place in the database.
    public func collectionGroup(_ id: String) -> Query {
        let path = Result.catching(id) { text throws(InvalidPath) in try CollectionPath(text) }
        guard case .success(let collection) = path, collection.parent == nil else {
            return Query(self, .failure(.invalidArgument("\"\(id)\" is not a collection id.")))
        }
        return Query(self, .success(QueryValue(collectionID: id, allDescendants: true)))
    }

    /// The beginning of a pipeline: stages that filter, compute, join, group and sort.
    public func pipeline() -> PipelineSource { PipelineSource(firestore: self) }

    /// Several writes that are applied together or not at all.
    public func batch() -> WriteBatch { WriteBatch(self) }
}

extension Firestore {
    /// The counts of reads, by label, screen and cause.
    public var readMeter: ReadMeter { ReadMeter(firestore: self) }

    /// The manager of indexes; nil for a cache in memory.
    public var persistentCacheIndexManager: PersistentCacheIndexManager? {
        settings.cache == .memory ? nil : PersistentCacheIndexManager(self)
    }
}

// MARK: Calls of the engine

extension Firestore {
    /// Journals mutations as one batch.
    package func enqueue(_ mutations: [Mutation]) async throws(FirestoreError) -> WriteReceipt {
        try await receipt { engine.write(mutations, observer: $0) }
    }

    /// Stages files, and journals them with the mutations in one step. If one file cannot be
    /// staged, nothing is journalled and no copy stays.
    ///
    /// - Parameter deleted: The fields of deleted documents whose objects are deleted too.
    func enqueue(
        _ mutations: [Mutation], _ attachments: [FileAttachment],
        deleting deleted: [DeletedFile] = []
    ) async throws(FirestoreError) -> WriteReceipt {
        if attachments.isEmpty, deleted.isEmpty { return try await enqueue(mutations) }
        var mutations = mutations
        var staged: [StagedFile] = []
        // The copies belong to this user, so another user's queue refuses the batch.
        let session = engine.session
        do throws(FirestoreError) {
            for attachment in attachments {
                let file = try await attachment.file.stage(
                    in: self, session, document: attachment.document, field: attachment.field)
                staged.append(file)
                try FilePlacing.place(
                    file.value, at: attachment.field, of: attachment.document, in: &mutations)
            }
        } catch {
            for file in staged { file.end(false) }
            throw error
        }
        let attached = AttachedFiles(
            staged.map(\.file), maxFiles: staged.map(\.maxFiles).min() ?? .max,
            maxBytes: staged.map(\.maxBytes).min() ?? .max, deleted: deleted)
        let files = staged
        let decision = Decision()
        return try await receipt { [mutations] observer in
            session.write(mutations, attaching: attached) { event in
                if decision.isFirst {
                    let isJournalled = if case .journalled = event { true } else { false }
                    for file in files { file.end(isJournalled) }
                }
                observer(event)
            }
        }
    }

    /// Waits until a write that `start` makes is journalled.
    func receipt(
        _ start: (@escaping @Sendable (SyncEngine.WriteEvent) -> Void) -> Void
    ) async throws(FirestoreError) -> WriteReceipt {
        let outcome = WriteOutcome()
        let batch: Int64 = try await answer { finish in
            start { event in
                switch event {
                case .journalled(let batch): finish(.success(batch))
                case .acknowledged(let commitTime): outcome.finish(.success(commitTime))
                case .failed(let error):
                    // Before the write is journalled, this is the answer. Afterwards, the first
                    // answer stays.
                    finish(.failure(error))
                    outcome.finish(.failure(error))
                }
            }
        }
        return WriteReceipt(batch: batch, outcome)
    }

    /// Journals mutations as one batch and waits for the server.
    package func commit(_ mutations: [Mutation]) async throws(FirestoreError) {
        try await enqueue(mutations).acknowledged()
    }

    /// Commits for a caller with a closure. Without a closure, an error is written to the log.
    func commit(
        _ mutations: Result<[Mutation], FirestoreError>,
        _ completion: (((any Error)?) -> Void)?
    ) {
        let queue = callbackQueue
        let completion = completion.map(AppClosure.init)
        let end: @Sendable (FirestoreError?) -> Void = { error in
            if let completion {
                queue.async { completion.call(error) }
            } else if let error {
                Log.fault("A write without a completion failed: \(error)")
            }
        }
        switch mutations {
        case .failure(let error): end(error)
        case .success(let mutations):
            // The write is queued here and not in a task, so writes keep the order of their calls.
            engine.write(mutations) { event in
                switch event {
                case .journalled: break
                case .acknowledged: end(nil)
                case .failed(let error): end(FirestoreError(error))
                }
            }
        }
    }

    /// - Parameter queue: The queue on which `observer` is called; nil for the engine's own
    ///   executor, which `observer` must not block.
    func listen(
        _ query: Result<QueryValue, FirestoreError>, options: SnapshotListenOptions,
        tag: ReadTag, on queue: DispatchQueue?,
        observer: @escaping @Sendable (Result<ViewSnapshot, FirestoreError>) -> Void
    ) -> any ListenerRegistration {
        let listener = Registration()
        let notify: @Sendable (Result<ViewSnapshot, FirestoreError>) -> Void = { result in
            guard let queue else { return observer(result) }
            queue.async { if !listener.isRemoved { observer(result) } }
        }
        switch query {
        case .failure(let error): notify(.failure(error))
        case .success(let query):
            let engineOptions = SyncEngine.ListenOptions(
                includeMetadataChanges: options.includeMetadataChanges,
                source: options.source == .cache ? .cache : .default, tag: tag.inScope)
            listener.attach(
                engine.listen(query, engineOptions) { notify($0.mapError(FirestoreError.init)) })
        }
        return listener
    }

    /// Runs a read for a caller that passed a closure.
    func callBack<Success: Sendable>(
        _ completion: @escaping (Success?, (any Error)?) -> Void,
        _ body: @escaping @Sendable () async throws(FirestoreError) -> Success
    ) {
        let queue = callbackQueue
        let completion = AppClosure(completion)
        Task {
            do throws(FirestoreError) {
                let success = try await body()
                queue.async { completion.call(success, nil) }
            } catch { queue.async { completion.call(nil, error) } }
        }
    }

    /// Runs an operation without a result for a caller that can pass a closure.
    func callBack(
        _ completion: (((any Error)?) -> Void)?,
        _ body: @escaping @Sendable () async throws(FirestoreError) -> Void
    ) {
        let queue = callbackQueue
        let completion = AppClosure(completion)
        Task {
            do throws(FirestoreError) {
                try await body()
                queue.async { completion.call?(nil) }
            } catch { queue.async { completion.call?(error) } }
        }
    }

    /// Returns a row of the cache, without a request to the server.
    package func cachedSnapshot(of view: ViewDocument) -> QueryDocumentSnapshot {
        let origin = SnapshotOrigin(
            self, .stale(age: nil, reason: .askedForCache), readTime: nil)
        return QueryDocumentSnapshot(origin, view.path, view)
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

// MARK: Files

extension Firestore {
    /// The folder of the files that wait, beside the cache; nil for a cache in memory. It is in the
    /// folder of the cache, which backups exclude.
    package var filesFolder: String? {
        started.settings.cacheFile(of: databaseID).map { $0 + ".files" }
    }

    /// The providers of tokens that this client uses.
    package var tokenProviders: (user: (any TokenProvider)?, appCheck: (any TokenProvider)?) {
        let settings = started.settings
        let user = settings.tokenProvider ?? settings.token.map(FixedToken.init)
        return (user, settings.appCheckProvider)
    }
}
