/// A document, which may not exist yet. Creating a reference reads nothing.
public final class DocumentReference: SnapshotSource {
    public let firestore: Firestore
    /// The path, such as `rooms/blue`.
    public let path: String
    let resolved: Result<DocumentPath, FirestoreError>
    /// The tag under which the document's reads are counted. It does not affect equality.
    let tag: ReadTag

    init(
        _ firestore: Firestore, _ resolved: Result<DocumentPath, FirestoreError>, text: String,
        tag: ReadTag = ReadTag()
    ) {
        self.firestore = firestore
        self.resolved = resolved
        self.tag = tag
        path = text
    }

    /// The last segment of ``path``.
    public var documentID: String { (try? resolved.get().id) ?? "" }

    /// The collection that holds the document.
    public var parent: CollectionReference {
        CollectionReference(
            firestore, resolved.map(\.parent), text: (try? resolved.get().parent.text) ?? path)
    }

    /// Returns a collection below the document. With an invalid path, every use of the reference
    /// throws.
    public func collection(_ path: String) -> CollectionReference {
        guard case .failure(let error) = resolved else {
            return firestore.collection(self.path + "/" + path)
        }
        return CollectionReference(firestore, .failure(error), text: self.path + "/" + path)
    }

    package func documentPath() throws(FirestoreError) -> DocumentPath { try resolved.get() }

    func value() throws(FirestoreError) -> ReferenceValue {
        ReferenceValue(database: firestore.databaseID, path: try resolved.get())
    }
}

extension DocumentReference: Hashable, CustomStringConvertible {
    public static func == (left: DocumentReference, right: DocumentReference) -> Bool {
        left.firestore === right.firestore && left.resolved == right.resolved
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(firestore))
        hasher.combine(resolved)
    }

    public var description: String { path }
}

extension DocumentReference {
    /// Reads the document once. Costs one read if the server answers, even if the document does not
    /// exist.
    ///
    /// - Parameters:
    ///   - source: `.default` asks the server, and the cache if the server does not answer in time;
    ///     ``DocumentSnapshot/freshness`` states the source of the answer, its age and the reason.
    ///   - deadline: The maximum time for the server; nil for ``FirestoreSettings/readDeadline``.
    /// - Throws: `unavailable` if neither the server nor the cache answers; `cancelled` immediately
    ///   if the task is cancelled.
    public nonisolated(nonsending) func getDocument(
        source: FirestoreSource = .default, within deadline: Duration? = nil
    ) async throws(FirestoreError) -> DocumentSnapshot {
        let path = try documentPath()
        let deadline = deadline ?? firestore.readDeadline
        let result: ReadResult = try await answer { finish in
            firestore.engine.read(
                document: path, source: source, deadline: deadline, tag: tag.inScope, here: true,
                completion: finish)
        }
        return DocumentSnapshot(self, path, result)
    }

    /// Runs like ``getDocument(source:within:)``; `completion` is called on the listeners' queue.
    public func getDocument(
        source: FirestoreSource = .default,
        completion: @escaping (DocumentSnapshot?, (any Error)?) -> Void
    ) {
        firestore.callBack(completion) { () async throws(FirestoreError) in
            try await self.getDocument(source: source)
        }
    }
}

extension DocumentReference {
    /// Calls `listener` with the document now, and each time it changes, on the listeners' queue.
    /// After an error there are no more calls.
    @discardableResult
    public func addSnapshotListener(
        includeMetadataChanges: Bool = false,
        listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        let options = SnapshotListenOptions(includeMetadataChanges: includeMetadataChanges)
        return addSnapshotListener(options: options, listener: listener)
    }

    @discardableResult
    public func addSnapshotListener(
        _ listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
    }

    @discardableResult
    public func addSnapshotListener(
        options: SnapshotListenOptions,
        listener: @escaping (DocumentSnapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        let listener = AppClosure(listener)
        return firestore.listen(
            listenQuery, options: options, tag: tag, on: firestore.callbackQueue
        ) { result in
            switch result {
            case .success(let view): listener.call(self.snapshot(view, options), nil)
            case .failure(let error): listener.call(nil, error)
            }
        }
    }

    /// The document now and after each change. Each loop is a separate listener, which ends with
    /// the loop. A slow loop skips to the newest snapshot.
    public var snapshots: DocumentSnapshotsSequence { snapshots(includeMetadataChanges: false) }

    public func snapshots(includeMetadataChanges: Bool) -> DocumentSnapshotsSequence {
        DocumentSnapshotsSequence(
            self, SnapshotListenOptions(includeMetadataChanges: includeMetadataChanges))
    }

    /// The query for the document's name, because the engine listens only to queries.
    var listenQuery: Result<QueryValue, FirestoreError> {
        resolved.map { path in
            var query = QueryValue(collection: path.parent)
            let reference = ReferenceValue(database: firestore.databaseID, path: path)
            query.filter = .field(.documentID, .equal, .reference(reference))
            return query
        }
    }

    func snapshot(_ view: ViewSnapshot, _ options: SnapshotListenOptions) -> DocumentSnapshot {
        let freshness = Freshness(view, options, now: firestore.environment.now())
        // The view exists only for a valid path.
        let path = (try? resolved.get()) ?? DocumentPath(unchecked: path)
        return DocumentSnapshot(
            self, path: path, view: view.documents.first, freshness: freshness,
            readTime: view.readTime)
    }
}
