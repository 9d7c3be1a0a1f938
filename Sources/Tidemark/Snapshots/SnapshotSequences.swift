/// The views of a listener, of which an iterator gets only the newest.
struct ViewStream {
    private var results: AsyncStream<Result<ViewSnapshot, FirestoreError>>.Iterator

    init(
        _ firestore: Firestore, query: Result<QueryValue, FirestoreError>,
        options: SnapshotListenOptions, tag: ReadTag
    ) {
        let (results, input) = AsyncStream.makeStream(
            of: Result<ViewSnapshot, FirestoreError>.self, bufferingPolicy: .bufferingNewest(1))
        let listener = firestore.listen(query, options: options, tag: tag, on: nil) { result in
            input.yield(result)
            if case .failure = result { input.finish() }
        }
        input.onTermination = { _ in listener.remove() }
        self.results = results.makeAsyncIterator()
    }

    mutating func next(
        isolation: isolated (any Actor)?
    ) async throws(FirestoreError) -> ViewSnapshot? {
        try await results.next(isolation: isolation)?.get()
    }
}

/// A query's rows now and after each change. Each loop is a separate listener; a slow loop skips to
/// the newest snapshot. The sequence ends with an error, or when the task is cancelled.
public struct QuerySnapshotsSequence: AsyncSequence, Sendable {
    public typealias Element = QuerySnapshot
    public typealias Failure = FirestoreError

    let query: Query
    let options: SnapshotListenOptions

    public init(_ query: Query, _ options: SnapshotListenOptions = SnapshotListenOptions()) {
        self.query = query
        self.options = options
    }

    public init(_ query: Query, includeMetadataChanges: Bool) {
        self.init(query, SnapshotListenOptions(includeMetadataChanges: includeMetadataChanges))
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let query: Query
        let options: SnapshotListenOptions
        var views: ViewStream
        /// The rows that the loop saw last. The changes of the next snapshot are relative to them.
        var seen: [ViewDocument] = []

        public mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async throws(FirestoreError) -> QuerySnapshot? {
            guard let view = try await views.next(isolation: isolation) else { return nil }
            defer { seen = view.documents }
            return QuerySnapshot(query, view: view, old: seen, options: options)
        }
    }

    /// Starts listening. Leaving the loop drops the iterator and, with it, the listener.
    public func makeAsyncIterator() -> AsyncIterator {
        let value = Result { () throws(FirestoreError) in try query.runnable() }
        return AsyncIterator(
            query: query, options: options,
            views: ViewStream(query.firestore, query: value, options: options, tag: query.tag))
    }
}

/// A document now and after each change. Each loop is a separate listener; a slow loop skips to the
/// newest snapshot. The sequence ends with an error, or when the task is cancelled.
public struct DocumentSnapshotsSequence: AsyncSequence, Sendable {
    public typealias Element = DocumentSnapshot
    public typealias Failure = FirestoreError

    let document: DocumentReference
    let options: SnapshotListenOptions

    public init(
        _ document: DocumentReference, _ options: SnapshotListenOptions = SnapshotListenOptions()
    ) {
        self.document = document
        self.options = options
    }

    public init(_ document: DocumentReference, includeMetadataChanges: Bool) {
        self.init(document, SnapshotListenOptions(includeMetadataChanges: includeMetadataChanges))
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let document: DocumentReference
        let options: SnapshotListenOptions
        var views: ViewStream

        public mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async throws(FirestoreError) -> DocumentSnapshot? {
            try await views.next(isolation: isolation).map { document.snapshot($0, options) }
        }
    }

    /// Starts listening. Leaving the loop drops the iterator and, with it, the listener.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            document: document, options: options,
            views: ViewStream(
                document.firestore, query: document.listenQuery, options: options, tag: document.tag
            ))
    }
}
