public import TidemarkModel

// Listening, reading from the server, writing, and what that costs.
extension SyncEngine {
    /// Listens to a query until the returned handle is cancelled. The first snapshot comes from the
    /// cache when it holds anything. A failure is the last event.
    public func listen(
        _ query: Query, _ options: ListenOptions = ListenOptions(),
        observer: @escaping @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    ) -> any CancellableCall {
        let listener = Subscription(newListenerID(), core) { $0.removeListener($1) }
        // In one closure, which a screen full of listeners waits for. It holds the engine by way of the
        // handle: to what is held weakly somewhere, each further reference takes longer.
        scheduler.enqueue { listener.core.addListener(listener.id, query, options, observer) }
        return listener
    }

    /// Listens to one document; its snapshots have at most one row. As ``listen(_:_:observer:)``.
    public func listen(
        document path: DocumentPath, _ options: ListenOptions = ListenOptions(),
        observer: @escaping @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    ) -> any CancellableCall {
        listen(.document(path, in: core.database), options, observer: observer)
    }

    /// Tells at once, and then whenever listeners have been given snapshots: all of them have seen
    /// the same changes then, so that what they show fits together.
    public func observeSnapshotsInSync(
        _ observer: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        subscribe {
            $0.observeInSync($1, observer)
        } end: {
            $0.removeInSyncObserver($1)
        }
    }

    /// Reads a query's rows once.
    ///
    /// - Parameter deadline: From now; then the cache answers, with the reason. Nil waits for the
    ///   server as long as it is thought to be reachable.
    /// - Parameter silence: How long the server may say nothing, where there is no deadline; nil for 60 s.
    ///   It does not end a read whose rows go on coming.
    /// - Parameter here: Whether the cache may answer within the call. `completion` must then neither
    ///   take a lock that the caller holds nor run anybody else's code.
    public func read(
        _ query: Query, source: ReadSource, deadline: Duration?, tag: ReadTag = ReadTag(),
        silence: Duration? = nil, here: Bool = false,
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform(here: here) {
            $0.read(.query(query), source, deadline, tag, silence: silence, completion)
        }
    }

    /// Reads one document once; a missing one is an answer with no rows. As the one for queries.
    public func read(
        document path: DocumentPath, source: ReadSource, deadline: Duration?,
        tag: ReadTag = ReadTag(), here: Bool = false,
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform(here: here) { $0.read(.document(path), source, deadline, tag, completion) }
    }

    /// Queues mutations as one batch, to be applied together. `observer` gets `journalled`, then
    /// `acknowledged` or `failed`; a batch found in the queue after a restart has no observer.
    public func write(
        _ mutations: [Mutation], observer: @escaping @Sendable (WriteEvent) -> Void
    ) {
        perform { $0.write(mutations, observer) }
    }

    /// Runs an aggregation on the server.
    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation], deadline: Duration?,
        tag: ReadTag = ReadTag(),
        completion: @escaping @Sendable (Result<AggregationReply, SyncError>) -> Void
    ) {
        perform { core in
            core.fetch { $0.aggregate(query, aggregations, deadline, tag, completion) }
        }
    }

    /// Fetches a query from the server with one call (no listen), puts its rows into the cache, and
    /// stores `records` in the same transaction: how a feed keeps its state true to its documents.
    ///
    /// - Parameter records: From the rows and the read time, what to store under which keys of
    ///   ``record(forKey:completion:)``; called on the engine's executor, once, when all has
    ///   arrived. When the call fails half way none is stored; rows that came may be.
    /// - Parameter tag: Whom it is counted for; as a ``ReadCause/page`` unless it says something else.
    public func fetch(
        _ query: Query, deadline: Duration?, tag: ReadTag = ReadTag(),
        records: @escaping @Sendable ([Document], _ readTime: Timestamp) -> [String: [UInt8]],
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform { core in core.fetch { $0.fetch(query, deadline, tag, records, completion) } }
    }

    /// Reads a query into the cache; its rows are handed to nobody, and memory holds a part of them.
    ///
    /// - Parameters:
    ///   - deadline: For all of it; nil for as long as rows come.
    ///   - silence: How long none may come; nil for 60 s.
    public func download(
        _ query: Query, deadline: Duration?, silence: Duration? = nil, tag: ReadTag = ReadTag(),
        completion: @escaping @Sendable (Result<DownloadedRows, SyncError>) -> Void
    ) {
        perform { core in
            core.fetch { $0.download(query, deadline, silence, tag, completion) }
        }
    }
}

// MARK: - The queue of writes

extension SyncEngine {
    /// What waits for the server, in the order in which it will be sent.
    public func pendingWrites(
        completion: @escaping @Sendable (Result<[PendingWrite], SyncError>) -> Void
    ) {
        perform { completion($0.pendingWrites) }
    }

    /// What was refused and is still kept, oldest first: the newest thousand.
    public func rejectedWrites(
        completion: @escaping @Sendable (Result<[RejectedWrite], SyncError>) -> Void
    ) {
        perform { core in completion(core.cached { try $0.queue.rejectedWrites() }) }
    }

    /// Forgets a rejected write; one that is not there is forgotten already.
    public func discardRejectedWrite(
        _ batch: Int64, completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { completion($0.discardRejectedWrite(batch).error) }
    }

    /// Puts a rejected write at the end of the queue again, as a new batch. `observer`: as of
    /// ``write(_:observer:)``; it fails with `notFound` when there is no such write.
    public func retryRejectedWrite(
        _ batch: Int64, observer: @escaping @Sendable (WriteEvent) -> Void
    ) {
        perform { $0.retryRejectedWrite(batch, observer) }
    }

    /// Queues a batch of another store in the present user's queue, unless that was done before.
    ///
    /// - Parameter completion: Gets the batch's number in the queue, once it is durable there; nil when it
    ///   was queued before; `failedPrecondition` when it is not the present user's.
    package func take(
        _ moved: MovedBatch, completion: @escaping @Sendable (Result<Int64?, SyncError>) -> Void
    ) {
        perform { completion($0.take(moved)) }
    }

    /// Whether the present user's cache notes that a batch of another store was queued.
    package func wasTaken(
        _ mark: String, completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        perform { core in
            completion(
                core.cached { try $0.records.value(forKey: MovedMarks.key(of: mark)) != nil })
        }
    }

    /// Tells how the queue stands: now, and after each change, until the returned handle is
    /// cancelled.
    public func observeWriteQueue(
        _ observer: @escaping @Sendable (WriteQueueState) -> Void
    ) -> any CancellableCall {
        subscribe {
            $0.observeQueue($1, observer)
        } end: {
            $0.removeQueueObserver($1)
        }
    }
}

// MARK: - The meter

extension SyncEngine {
    /// What was billed on this device and for the present user, today and on the days before: of 35
    /// days at the most. Costs a read of a few rows of the cache; asks no server.
    public func readReport(
        days: Int = 35, completion: @escaping @Sendable (Result<ReadReport, SyncError>) -> Void
    ) {
        perform { completion($0.readReport(days: days)) }
    }

    /// Tells of every bill, of budgets and storms and of attempts that failed, until the returned handle is cancelled. On the
    /// engine's executor.
    public func observeReads(
        _ observer: @escaping @Sendable (ReadEvent) -> Void
    ) -> any CancellableCall {
        subscribe {
            $0.observeReads($1, observer)
        } end: {
            $0.removeReadObserver($1)
        }
    }

    /// Replaces the budgets, from the next read on.
    public func setReadBudgets(_ budgets: [ReadBudget]) { perform { $0.setBudgets(budgets) } }
}
