/// A query: a selection of documents and their order. Its creation reads nothing.
///
/// An invalid call creates a query whose every use throws `invalidArgument`, so queries can be
/// built without `try`.
public class Query: SnapshotSource, @unchecked Sendable {
    // `@unchecked`: the compiler cannot check a class that allows subclasses. All properties are
    // constants of sendable types, and the only subclass is in this module.

    public let firestore: Firestore
    /// The query as a value, or the reason why there is none.
    package let value: Result<QueryValue, FirestoreError>
    /// The tag under which the query's reads are counted. It does not affect equality.
    let tag: ReadTag

    init(
        _ firestore: Firestore, _ value: Result<QueryValue, FirestoreError>,
        tag: ReadTag = ReadTag()
    ) {
        self.firestore = firestore
        self.value = value
        self.tag = tag
    }

    /// Creates the query of a value.
    package convenience init(_ firestore: Firestore, _ value: QueryValue) {
        self.init(firestore, .success(value))
    }

    /// Returns the query after `change`.
    func changed(_ change: (inout QueryValue) throws(FirestoreError) -> Void) -> Query {
        guard case .success(var query) = value else { return Query(firestore, value, tag: tag) }
        do throws(FirestoreError) {
            try change(&query)
            return Query(firestore, .success(query), tag: tag)
        } catch { return Query(firestore, .failure(error), tag: tag) }
    }

    /// Returns the query in a form that can be run.
    package func runnable() throws(FirestoreError) -> QueryValue {
        let query = try value.get()
        if case .last? = query.limit, query.orders.isEmpty {
            throw .invalidArgument("limit(toLast:) needs an order.")
        }
        return query
    }
}

extension Query {
    /// Orders by a field; documents without it are left out.
    public func order(by field: some FieldName, descending: Bool = false) -> Query {
        changed { query throws(FirestoreError) in
            if query.start != nil || query.end != nil {
                throw .invalidArgument("Add orders before cursors.")
            }
            query.orders.append(Order(try field.resolved(), descending ? .descending : .ascending))
        }
    }

    /// Returns a query for the first rows only.
    public func limit(to count: Int) -> Query {
        changed { query throws(FirestoreError) in
            query.limit = .first(try Self.checked(count))
        }
    }

    /// Returns a query for the last rows only, in the query's order, which must be given.
    public func limit(toLast count: Int) -> Query {
        changed { query throws(FirestoreError) in
            query.limit = .last(try Self.checked(count))
        }
    }

    private static func checked(_ count: Int) throws(FirestoreError) -> Int {
        guard (1...Int(Int32.max)).contains(count) else {
            throw .invalidArgument("A limit of \(count) is not valid: it must be at least 1.")
        }
        return count
    }
}

extension Query {
    /// Reads the rows once. Costs one read for each row that the server sends, at least one.
    ///
    /// - Parameters:
    ///   - source: `.default` asks the server, and the cache if the server does not answer in time;
    ///     ``QuerySnapshot/freshness`` states the source of the answer, its age and the reason.
    ///   - deadline: The maximum total time for the server. Nil to wait as long as rows arrive,
    ///     with at most ``FirestoreSettings/readDeadline`` between two rows.
    /// - Throws: `unavailable` if only the server was asked and did not answer; `cancelled`
    ///   immediately if the task is cancelled.
    public nonisolated(nonsending) func getDocuments(
        source: FirestoreSource = .default, within deadline: Duration? = nil
    ) async throws(FirestoreError) -> QuerySnapshot {
        let query = try runnable()
        let isHere = query.mayRunHere(#isolation)
        let result: ReadResult = try await answer { finish in
            firestore.engine.read(
                query, source: source, deadline: deadline, tag: tag.inScope,
                silence: firestore.readDeadline, here: isHere, completion: finish)
        }
        return QuerySnapshot(self, result)
    }

    /// Runs like ``getDocuments(source:within:)``; `completion` is called on the listeners' queue.
    public func getDocuments(
        source: FirestoreSource = .default,
        completion: @escaping (QuerySnapshot?, (any Error)?) -> Void
    ) {
        firestore.callBack(completion) { () async throws(FirestoreError) in
            try await self.getDocuments(source: source)
        }
    }
}

extension Query {
    /// Calls `listener` with the rows now, first from the cache, and each time they change, on the
    /// listeners' queue. After an error there are no more calls.
    ///
    /// Costs one read for each row that the server sends.
    @discardableResult
    public func addSnapshotListener(
        includeMetadataChanges: Bool = false,
        listener: @escaping (QuerySnapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        let options = SnapshotListenOptions(includeMetadataChanges: includeMetadataChanges)
        return addSnapshotListener(options: options, listener: listener)
    }

    @discardableResult
    public func addSnapshotListener(
        _ listener: @escaping (QuerySnapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
    }

    @discardableResult
    public func addSnapshotListener(
        options: SnapshotListenOptions,
        listener: @escaping (QuerySnapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        let query = Result { () throws(FirestoreError) in try runnable() }
        let listener = AppClosure(listener)
        return firestore.listen(query, options: options, tag: tag, on: firestore.callbackQueue) {
            result in
            switch result {
            case .success(let view):
                listener.call(
                    QuerySnapshot(self, view: view, old: view.oldDocuments, options: options), nil)
            case .failure(let error): listener.call(nil, error)
            }
        }
    }

    /// The rows now and after each change. Each loop is a separate listener, which ends with the
    /// loop. A slow loop skips to the newest snapshot; ``QuerySnapshot/documentChanges`` are
    /// relative to the last snapshot that the loop saw.
    public var snapshots: QuerySnapshotsSequence { snapshots(includeMetadataChanges: false) }

    public func snapshots(includeMetadataChanges: Bool) -> QuerySnapshotsSequence {
        QuerySnapshotsSequence(
            self, SnapshotListenOptions(includeMetadataChanges: includeMetadataChanges))
    }
}

// MARK: Conditions

extension Query {
    /// Returns a query for the rows that also match the filter.
    public func whereFilter(_ filter: Filter) -> Query {
        changed { query throws(FirestoreError) in
            let new = try filter.value(for: query, in: self.firestore.databaseID)
            switch query.filter {
            case nil: query.filter = new
            case .and(let filters)?: query.filter = .and(filters + [new])
            case let old?: query.filter = .and([old, new])
            }
        }
    }

    public func whereField(_ field: some FieldName, isEqualTo value: Any) -> Query {
        whereFilter(Filter(field, operation: .equal, any: value))
    }

    /// Returns a query for documents that have the field, with another value.
    public func whereField(_ field: some FieldName, isNotEqualTo value: Any) -> Query {
        whereFilter(Filter(field, operation: .notEqual, any: value))
    }

    public func whereField(_ field: some FieldName, isLessThan value: Any) -> Query {
        whereFilter(Filter(field, operation: .lessThan, any: value))
    }

    public func whereField(_ field: some FieldName, isLessThanOrEqualTo value: Any) -> Query {
        whereFilter(Filter(field, operation: .lessThanOrEqual, any: value))
    }

    public func whereField(_ field: some FieldName, isGreaterThan value: Any) -> Query {
        whereFilter(Filter(field, operation: .greaterThan, any: value))
    }

    public func whereField(_ field: some FieldName, isGreaterThanOrEqualTo value: Any) -> Query {
        whereFilter(Filter(field, operation: .greaterThanOrEqual, any: value))
    }

    public func whereField(_ field: some FieldName, arrayContains value: Any) -> Query {
        whereFilter(Filter(field, operation: .arrayContains, any: value))
    }

    public func whereField(_ field: some FieldName, arrayContainsAny values: [Any]) -> Query {
        whereFilter(Filter(field, operation: .arrayContainsAny, any: values))
    }

    public func whereField(_ field: some FieldName, in values: [Any]) -> Query {
        whereFilter(Filter(field, operation: .isIn, any: values))
    }

    public func whereField(_ field: some FieldName, notIn values: [Any]) -> Query {
        whereFilter(Filter(field, operation: .notIn, any: values))
    }
}

// MARK: As a pipeline

extension Query {
    /// Returns the pipeline that reads the same rows, to which stages can be added.
    ///
    /// The pipeline follows the Enterprise edition: `!=` and `not-in` also match documents without
    /// the field. A vector search and a collection group below a document have no pipeline.
    public func pipeline() -> Pipeline { firestore.pipeline().create(from: self) }
}

// MARK: On the cache

/// The summary of the rows that ``Query/download(within:)`` has stored in the cache.
public typealias DownloadedRows = TidemarkSync.DownloadedRows

extension Query {
    /// Reads the rows from the server into the cache, and returns none: for results that do not fit
    /// into memory. Costs one read per row that the server sends, at least one.
    ///
    /// Rows are stored when they arrive, so received rows stay in every case; a broken connection
    /// is resumed after the last row. The memory grows by 8 to 16 bytes per row. Documents that are
    /// no longer rows are removed at the end. Afterwards, reads and aggregations from the cache
    /// find all rows.
    ///
    /// - Parameter deadline: The maximum total time; nil to wait as long as rows arrive, with at
    ///   most ``FirestoreSettings/readDeadline`` between two rows.
    public func download(
        within deadline: Duration? = nil
    ) async throws(FirestoreError) -> DownloadedRows {
        let query = try runnable()
        return try await answer { finish in
            firestore.engine.download(
                query, deadline: deadline, silence: firestore.readDeadline, tag: tag.inScope,
                completion: finish)
        }
    }

    /// Runs the query on the cache and explains it: the index, the number of rows that were
    /// examined and returned, and the time. Reads nothing from the server; the only cost is the
    /// time to run the query twice.
    public func explainCached() async throws(FirestoreError) -> CacheExplanation {
        let query = try runnable()
        return try await answer { firestore.engine.explainCached(query, completion: $0) }
    }
}

extension Query: Hashable {
    public static func == (left: Query, right: Query) -> Bool {
        left.firestore === right.firestore && left.value == right.value
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(firestore))
        hasher.combine(value)
    }
}
