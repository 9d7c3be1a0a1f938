package import TidemarkModel
import TidemarkStore

/// What is stored with a page of a feed, in the transaction that stores its documents.
package struct FeedPageRecords: Sendable {
    package var records: [String: [UInt8]]
    /// A query whose rows the page has all of: what the cache holds beside them is forgotten.
    package var complete: Query?

    package init(records: [String: [UInt8]], complete: Query? = nil) {
        self.records = records
        self.complete = complete
    }
}

/// What a feed holds of a range, and what the server says of it.
package struct FeedComparison: Hashable, Sendable {
    package var held: FeedAudit.Figures
    /// Nil where the server was not asked.
    package var server: FeedAudit.Figures?
    /// A position with half of what is held below it; nil where they agree or nothing is held.
    package var middle: CoveragePosition?
    package var readTime: Timestamp?
    /// What the server bills for it.
    package var reads: Int

    init(held: FeedAudit.Figures, middle: CoveragePosition? = nil, reads: Int) {
        self.held = held
        self.middle = middle
        self.reads = reads
    }
}

// What feeds ask of the engine. Each is of the present user, and fails after a change of it.
extension UserSession {
    /// Fetches a page from the server with one call, and stores it with the records made of it, all
    /// or nothing.
    ///
    /// - Parameters:
    ///   - made: Called on the engine's executor, once, when all has arrived.
    ///   - completion: Gets the documents that look different now, those that are gone too.
    package func fetchPage(
        _ query: Query, deadline: Duration?, tag: ReadTag,
        made: @escaping @Sendable ([Document], _ readTime: Timestamp) -> FeedPageRecords,
        completion: @escaping @Sendable (Result<[DocumentPath], SyncError>) -> Void
    ) {
        perform(completion) { core in
            core.fetch { $0.fetchPage(query, deadline, tag, made, completion) }
        }
    }

    /// Compares what is held of a query with what the server has: how many, and the sum of a field.
    ///
    /// - Parameters:
    ///   - query: Ordered by `itemTime` and the name, descending; without a limit.
    ///   - expected: The server's figures where they are known; nil asks it, for a read for each
    ///     1,000 documents.
    ///   - readTime: As of when the server is asked; nil for now.
    package func compare(
        _ query: Query, itemTime: FieldPath, version: FieldPath?,
        expected: FeedAudit.Figures?, at readTime: Timestamp?, deadline: Duration?, tag: ReadTag,
        completion: @escaping @Sendable (Result<FeedComparison, SyncError>) -> Void
    ) {
        let held = HeldRange(query: query, itemTime: itemTime, version: version)
        perform(completion) { core in
            core.fetch { $0.compare(held, expected, readTime, deadline, tag, completion) }
        }
    }

    /// Reads a document from the server; nil when there is none.
    package func fetchDocument(
        _ path: DocumentPath, deadline: Duration?, tag: ReadTag,
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform(completion) { $0.read(.document(path), .server, deadline, tag, completion) }
    }

    /// As ``SyncEngine/listen(_:_:observer:)``.
    package func listen(
        _ query: Query, _ options: SyncEngine.ListenOptions,
        observer: @escaping @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    ) -> any CancellableCall {
        let refused: @Sendable (Result<Void, SyncError>) -> Void = { result in
            if case .failure(let error) = result { observer(.failure(error)) }
        }
        return subscribe(refused) { $0.addListener($1, query, options, observer) }
    }

    /// As ``SyncEngine/listen(document:_:observer:)``.
    package func listen(
        document path: DocumentPath, _ options: SyncEngine.ListenOptions,
        observer: @escaping @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    ) -> any CancellableCall {
        listen(.document(path, in: database), options, observer: observer)
    }

    /// Calls `job` on the engine's executor after a while.
    package func wait(
        _ duration: Duration, _ job: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        schedule(.feedRetry, after: duration, job)
    }

    /// Waits for what a listener tells no longer than for a read.
    ///
    /// - Parameter overdue: Gets what a read would fail with, on the engine's executor: at once where the server
    ///   may not be asked, else at the deadline.
    package func awaitListener(
        deadline: Duration?, tag: ReadTag, overdue: @escaping @Sendable (SyncError) -> Void
    ) -> any CancellableCall {
        let refused: @Sendable (Result<Void, SyncError>) -> Void = { result in
            if case .failure(let error) = result { overdue(error) }
        }
        perform(refused) { core in
            core.fetch { fetches in
                if let reason = fetches.refusalToAsk(tag) { overdue(reason) }
            }
        }
        return schedule(.readDeadline, after: deadline ?? CallLimits.longest) {
            overdue(.server(OneShotCalls.overdue))
        }
    }

    /// As ``SyncEngine/write(_:observer:)``.
    package func write(
        _ mutations: [Mutation], observer: @escaping @Sendable (SyncEngine.WriteEvent) -> Void
    ) {
        let refused: @Sendable (Result<Void, SyncError>) -> Void = { result in
            if case .failure(let error) = result { observer(.failed(error)) }
        }
        perform(refused) { $0.write(mutations, observer) }
    }
}

/// A range of what a feed holds, as the cache is asked for it.
struct HeldRange: Sendable {
    let query: Query
    let itemTime: FieldPath
    let version: FieldPath?

    var aggregations: [Aggregation] {
        [Aggregation(alias: "count", .count(upTo: nil))]
            + (version.map { [Aggregation(alias: "sum", .sum($0))] } ?? [])
    }

    /// What the cache holds of the range against the server's answer.
    func compare(_ local: LocalStore, with reply: AggregationReply) throws -> FeedComparison {
        let server = FeedAudit.Figures(reply.values ?? [:])
        var result = try compare(local, with: server)
        result.server = server
        result.readTime = reply.readTime
        result.reads = max(1, (server.count + 999) / 1_000)
        return result
    }

    /// What the server has told of the range, without the writes that are pending: the server does not
    /// know them either.
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
            // They come from the newest down: half of them lie below the middle one.
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
