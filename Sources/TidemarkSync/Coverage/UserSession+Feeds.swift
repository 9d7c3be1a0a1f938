package import TidemarkModel
import TidemarkStore

/// The records to store with a page of a feed, in the transaction that stores its documents.
package struct FeedPageRecords: Sendable {
    package var records: [String: [UInt8]]
    /// A query whose rows are all on the page. Its other documents in the cache are removed.
    package var complete: Query?
    /// A query to which a listener goes on from the page's read time; nil for none.
    package var followed: FollowedQuery?

    package init(
        records: [String: [UInt8]], complete: Query? = nil, followed: FollowedQuery? = nil
    ) {
        self.records = records
        self.complete = complete
        self.followed = followed
    }
}

/// A query whose rows as of a read time came with another read.
package struct FollowedQuery: Sendable {
    let query: Query
    let rows: [DocumentPath]

    /// - Parameter rows: The rows of the query. The server compares their number with its own, so
    ///   rows that are missing here are requested again.
    package init(_ query: Query, rows: [DocumentPath]) {
        self.query = query
        self.rows = rows
    }
}

/// The number of documents of a query on the server.
package struct ServerCount: Hashable, Sendable {
    package let documents: Int
    package let readTime: Timestamp
}

/// A feed's figures of a range, and the server's.
package struct FeedComparison: Hashable, Sendable {
    package var held: FeedAudit.Figures
    /// The server's figures; nil if the server was not asked.
    package var server: FeedAudit.Figures?
    /// A position with half of the held items below it; nil if the figures agree or nothing is
    /// held.
    package var middle: CoveragePosition?
    package var readTime: Timestamp?
    /// The number of reads that the server bills.
    package var reads: Int

    init(held: FeedAudit.Figures, middle: CoveragePosition? = nil, reads: Int) {
        self.held = held
        self.middle = middle
        self.reads = reads
    }
}

// The requests of feeds to the engine. Each belongs to the present user and fails after a change of
// user.
extension UserSession {
    /// Fetches a page from the server with one call, and stores it with its records in one
    /// transaction.
    ///
    /// - Parameters:
    ///   - made: Returns the records. Called once on the engine's executor, when everything has
    ///     arrived.
    ///   - completion: Receives the documents that changed, including those that no longer exist.
    package func fetchPage(
        _ query: Query, deadline: Duration?, tag: ReadTag,
        made: @escaping @Sendable ([Document], _ readTime: Timestamp) -> FeedPageRecords,
        completion: @escaping @Sendable (Result<[DocumentPath], SyncError>) -> Void
    ) {
        perform(completion) { core in
            core.parts.fetches.fetchPage(
                query, deadline: deadline, tag: tag, made: made, completion: completion)
        }
    }

    /// Begins a feed or a pager with a result that the cache has already, if there is one. Costs no
    /// reads.
    ///
    /// - Parameters:
    ///   - query: The collection and filters of the feed or the pager.
    ///   - itemTime: The field by which its items are ordered.
    ///   - made: Returns the records of the feed or the pager; nil if the result says nothing about
    ///     it. Called on the engine's executor.
    package func begin(
        with query: Query, by itemTime: FieldPath,
        made: @escaping @Sendable (KnownResult) -> FeedPageRecords?,
        completion: @escaping @Sendable (Result<Void, SyncError>) -> Void
    ) {
        perform(completion) { core in
            completion(core.parts.fetches.begin(query, itemTime: itemTime, made: made))
        }
    }

    /// Returns the results that earlier listeners of a query's collection and filters left, in any
    /// order and with any limit. Costs no reads.
    package func listenedResults(
        of query: Query,
        completion: @escaping @Sendable (Result<ListenedResults, SyncError>) -> Void
    ) {
        perform(completion) { core in
            completion(core.cached { try $0.targets.held(of: query) })
        }
    }

    /// Compares the held rows of a query with the server's: their number, and the sum of a field.
    ///
    /// - Parameters:
    ///   - query: A query ordered by `itemTime` and the name, descending, without a limit.
    ///   - expected: The server's figures, if known; nil asks the server, which bills a read per
    ///     1,000 documents.
    ///   - readTime: The time as of which the server is asked; nil for now.
    package func compare(
        _ query: Query, itemTime: FieldPath, version: FieldPath?,
        expected: FeedAudit.Figures?, at readTime: Timestamp?, deadline: Duration?, tag: ReadTag,
        completion: @escaping @Sendable (Result<FeedComparison, SyncError>) -> Void
    ) {
        let held = HeldRange(query: query, itemTime: itemTime, version: version)
        perform(completion) { core in
            core.parts.fetches.compare(
                held, expected: expected, readTime: readTime, deadline: deadline, tag: tag,
                completion: completion)
        }
    }

    /// Counts the documents of a query on the server, at most `most` of them. Costs a read per
    /// 1,000 counted documents, and at least one.
    package func countOnServer(
        _ query: Query, upTo most: Int, deadline: Duration?, tag: ReadTag,
        completion: @escaping @Sendable (Result<ServerCount, SyncError>) -> Void
    ) {
        perform(completion) { core in
            core.parts.fetches.count(
                query, upTo: most, deadline: deadline, tag: tag, completion: completion)
        }
    }

    /// Reads a document from the server; nil if it does not exist.
    package func fetchDocument(
        _ path: DocumentPath, deadline: Duration?, tag: ReadTag,
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform(completion) {
            $0.parts.reads.read(.document(path), .server, deadline, tag, completion)
        }
    }

    /// Like ``SyncEngine/listen(_:_:observer:)``.
    package func listen(
        _ query: Query, _ options: SyncEngine.ListenOptions,
        observer: @escaping @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    ) -> any CancellableCall {
        let refused: @Sendable (Result<Void, SyncError>) -> Void = { result in
            if case .failure(let error) = result { observer(.failure(error)) }
        }
        return subscribe(refused) {
            $0.parts.listeners.add($1, query: query, options: options, observer: observer)
        }
    }

    /// Like ``SyncEngine/listen(document:_:observer:)``.
    package func listen(
        document path: DocumentPath, _ options: SyncEngine.ListenOptions,
        observer: @escaping @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    ) -> any CancellableCall {
        listen(.document(path, in: database), options, observer: observer)
    }

    /// Calls `job` on the engine's executor after `duration`.
    package func wait(
        _ duration: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        schedule(.feedRetry, after: duration, job)
    }

    /// Limits the time to wait for a listener to that of a read.
    ///
    /// - Parameter overdue: Receives the error with which a read would fail, on the engine's
    ///   executor: immediately if the server must not be asked, otherwise at the deadline.
    package func awaitListener(
        deadline: Duration?, tag: ReadTag, overdue: @escaping @Sendable (SyncError) -> Void
    ) -> any CancellableCall {
        let refused: @Sendable (Result<Void, SyncError>) -> Void = { result in
            if case .failure(let error) = result { overdue(error) }
        }
        perform(refused) { core in
            if let reason = core.parts.fetches.refusalToAsk(tag) { overdue(reason) }
        }
        return schedule(.readDeadline, after: deadline ?? CallLimits.longest) {
            overdue(.server(OneShotCalls.overdue))
        }
    }

    /// Like ``SyncEngine/write(_:observer:)``.
    package func write(
        _ mutations: [Mutation], observer: @escaping @Sendable (SyncEngine.WriteEvent) -> Void
    ) {
        let refused: @Sendable (Result<Void, SyncError>) -> Void = { result in
            if case .failure(let error) = result { observer(.failed(error)) }
        }
        perform(refused) { $0.parts.writing.write(mutations, observer) }
    }
}

/// A range of a feed's held items, as a query of the cache.
struct HeldRange: Sendable {
    let query: Query
    let itemTime: FieldPath
    let version: FieldPath?

    var aggregations: [Aggregation] {
        [Aggregation(alias: "count", .count(upTo: nil))]
            + (version.map { [Aggregation(alias: "sum", .sum($0))] } ?? [])
    }

    /// Compares the cache's figures of the range with the server's answer.
    func compare(_ local: LocalStore, with reply: AggregationReply) throws -> FeedComparison {
        let server = FeedAudit.Figures(reply.values ?? [:])
        var result = try compare(local, with: server)
        result.server = server
        result.readTime = reply.readTime
        result.reads = max(1, (server.count + 999) / 1_000)
        return result
    }

    /// Compares the figures of the server's rows, without pending writes, which the server does not
    /// know either.
    func compare(
        _ local: LocalStore, with server: FeedAudit.Figures
    ) throws -> FeedComparison {
        try local.read { transaction in
            let table = transaction.documents(of: local.database)
            if version == nil {
                let held = FeedAudit.Figures(count: Int(try table.count(query).count))
                if held == server { return FeedComparison(held: held, reads: 0) }
            }
            var state = AggregationState(aggregations)
            var places: [(Timestamp, DocumentPath)] = []
            _ = try table.run(query) { stored in
                guard let document = stored.document else { return true }
                state.add(document.fields)
                if case .timestamp(let time)? = document.fields[itemTime] {
                    places.append((time, document.path))
                }
                return true
            }
            let held = FeedAudit.Figures(state.result)
            // The rows are ordered from the newest down, so half of them are below the middle one.
            let middle = places.isEmpty || held == server ? nil : places[(places.count - 1) / 2]
            return FeedComparison(
                held: held, middle: middle.map { .before($0.0, $0.1) }, reads: 0)
        }
    }
}

extension FeedAudit.Figures {
    init(_ values: MapValue) {
        self.init(count: 0)
        if case .integer(let count)? = values["count"] { self.count = Int(clamping: count) }
        switch values["sum"] {
        case .integer(let sum)?: self.sum = Double(sum)
        case .double(let sum)?: self.sum = sum
        default: break
        }
    }
}
