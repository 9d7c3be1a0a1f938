public import TidemarkModel

// Listening, reading from the server, writing, and the costs.
extension SyncEngine {
    /// Listens to a query until the returned handle is cancelled. The first snapshot comes from the
    /// cache if the cache has any row. A failure is the last event.
    public func listen(
        _ query: Query, _ options: ListenOptions = ListenOptions(),
        observer: @escaping @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    ) -> any CancellableCall {
        let listener = Subscription(newListenerID(), core: core) { $0.parts.listeners.remove($1) }
        // Uses one closure, because a screen of listeners waits for it. The closure holds the
        // engine through the handle, because each further reference to an object with weak
        // references takes longer.
        scheduler.enqueue {
            listener.core.run {
                $0.parts.listeners.add(
                    listener.id, query: query, options: options, observer: observer)
            }
        }
        return listener
    }

    /// Listens to one document, like ``listen(_:_:observer:)``. Its snapshots have at most one row.
    public func listen(
        document path: DocumentPath, _ options: ListenOptions = ListenOptions(),
        observer: @escaping @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    ) -> any CancellableCall {
        listen(.document(path, in: core.database), options, observer: observer)
    }

    /// Calls `observer` immediately, and whenever listeners have received snapshots. Then all
    /// listeners have seen the same changes, so the data that they show is consistent.
    public func observeSnapshotsInSync(
        _ observer: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        subscribe {
            $0.parts.views.observeInSync($1, observer)
        } end: {
            $0.parts.views.removeInSyncObserver($1)
        }
    }

    /// Reads a query's rows once.
    ///
    /// - Parameters:
    ///   - deadline: The time from now after which the cache answers, with the reason. Nil waits
    ///     for the server as long as it seems reachable.
    ///   - silence: The maximum time without a message, if there is no deadline; nil for 60 s. It
    ///     does not end a read whose rows keep arriving.
    ///   - here: True if the cache may answer within the call. `completion` must then neither take
    ///     a lock that the caller holds nor run other code's callbacks.
    public func read(
        _ query: Query, source: ReadSource, deadline: Duration?, tag: ReadTag = ReadTag(),
        silence: Duration? = nil, here: Bool = false,
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform(here: here) {
            $0.parts.reads.read(.query(query), source, deadline, tag, silence: silence, completion)
        }
    }

    /// Reads one document once, like the function for queries. A missing document is an answer
    /// without rows.
    public func read(
        document path: DocumentPath, source: ReadSource, deadline: Duration?,
        tag: ReadTag = ReadTag(), here: Bool = false,
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform(here: here) {
            $0.parts.reads.read(.document(path), source, deadline, tag, completion)
        }
    }

    /// Queues mutations as one batch, to be applied together. `observer` receives `journalled`,
    /// then `acknowledged` or `failed`. A batch that is in the queue after a restart has no
    /// observer.
    public func write(
        _ mutations: [Mutation], observer: @escaping @Sendable (WriteEvent) -> Void
    ) {
        perform { $0.parts.writing.write(mutations, observer) }
    }

    /// Reports that files may have changed: now, after a batch with files was queued or left the
    /// queue, and after a change of user, until the returned handle is cancelled.
    package func observeFiles(
        _ observer: @escaping @Sendable () -> Void
    ) -> any CancellableCall {
        subscribe { core, id in
            core.parts.files.observe(id, observer)
        } end: { core, id in
            core.parts.files.removeObserver(id)
        }
    }

    /// Runs an aggregation on the server.
    public func aggregate(
        _ query: Query, _ aggregations: [Aggregation], deadline: Duration?,
        tag: ReadTag = ReadTag(),
        completion: @escaping @Sendable (Result<AggregationReply, SyncError>) -> Void
    ) {
        perform { core in
            core.parts.fetches.aggregate(
                query, aggregations: aggregations, deadline: deadline, tag: tag,
                completion: completion)
        }
    }

    /// Runs a pipeline on the server. A pipeline that changes documents is not sent again after its
    /// answer was lost.
    package func execute(
        _ request: ExecutePipelineRequest, deadline: Duration?, tag: ReadTag = ReadTag(),
        completion: @escaping @Sendable (Result<ExecutePipelineReply, SyncError>) -> Void
    ) {
        perform { core in
            core.parts.fetches.execute(
                request, deadline: deadline, tag: tag, completion: completion)
        }
    }

    /// Fetches a query from the server with one call (no listen), stores its rows in the cache, and
    /// stores `records` in the same transaction. A feed uses this to keep its state consistent with
    /// its documents.
    ///
    /// - Parameters:
    ///   - records: Returns the values to store by key of ``record(forKey:completion:)``, from the
    ///     rows and the read time. Called once on the engine's executor, when everything has
    ///     arrived. If the call fails half way, no record is stored, but received rows may be.
    ///   - tag: The tag for which the reads are counted; by default, a ``ReadCause/page``.
    public func fetch(
        _ query: Query, deadline: Duration?, tag: ReadTag = ReadTag(),
        records: @escaping @Sendable ([Document], _ readTime: Timestamp) -> [String: [UInt8]],
        completion: @escaping @Sendable (Result<ReadResult, SyncError>) -> Void
    ) {
        perform { core in
            core.parts.fetches.fetch(
                query, deadline: deadline, tag: tag, records: records, completion: completion)
        }
    }

    /// Reads a query into the cache without returning its rows. Memory holds only a part of them.
    ///
    /// - Parameters:
    ///   - deadline: The limit for the whole read; nil for no limit while rows arrive.
    ///   - silence: The maximum time without a row; nil for 60 s.
    public func download(
        _ query: Query, deadline: Duration?, silence: Duration? = nil, tag: ReadTag = ReadTag(),
        completion: @escaping @Sendable (Result<DownloadedRows, SyncError>) -> Void
    ) {
        perform { core in
            core.parts.fetches.download(
                query, deadline: deadline, silence: silence, tag: tag, completion: completion)
        }
    }
}

// MARK: - The queue of writes

extension SyncEngine {
    /// Returns the pending writes, in the order in which they will be sent.
    public func pendingWrites(
        completion: @escaping @Sendable (Result<[PendingWrite], SyncError>) -> Void
    ) {
        perform { completion($0.pendingWrites) }
    }

    /// Returns the rejected writes that are still kept, at most the newest thousand, oldest first.
    public func rejectedWrites(
        completion: @escaping @Sendable (Result<[RejectedWrite], SyncError>) -> Void
    ) {
        perform { core in completion(core.cached { try $0.queue.rejectedWrites() }) }
    }

    /// Discards a rejected write. Does nothing if it does not exist.
    public func discardRejectedWrite(
        _ batch: Int64, completion: @escaping @Sendable (SyncError?) -> Void
    ) {
        perform { completion($0.discardRejectedWrite(batch).error) }
    }

    /// Adds a rejected write to the end of the queue as a new batch. `observer` is called as in
    /// ``write(_:observer:)``; it fails with `notFound` if the write does not exist.
    public func retryRejectedWrite(
        _ batch: Int64, observer: @escaping @Sendable (WriteEvent) -> Void
    ) {
        perform { $0.parts.writing.retry(rejected: batch, observer) }
    }

    /// Adds a batch of another store to the present user's queue, unless it was added before.
    ///
    /// - Parameter completion: Receives the batch's number in the queue when it is durable; nil if
    ///   it was added before; `failedPrecondition` if it belongs to another user.
    package func take(
        _ moved: MovedBatch, completion: @escaping @Sendable (Result<Int64?, SyncError>) -> Void
    ) {
        perform { completion($0.parts.writing.take(moved)) }
    }

    /// Reports whether the present user's cache records that a batch of another store was added.
    package func wasTaken(
        _ mark: String, completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        perform { core in
            completion(
                core.cached { try $0.records.value(forKey: MovedMarks.key(of: mark)) != nil })
        }
    }

    /// Reports the state of the queue now and after each change, until the returned handle is
    /// cancelled.
    public func observeWriteQueue(
        _ observer: @escaping @Sendable (WriteQueueState) -> Void
    ) -> any CancellableCall {
        subscribe {
            $0.parts.writing.watch.observe($1, observer)
        } end: {
            $0.parts.writing.watch.removeObserver($1)
        }
    }
}

// MARK: - The meter

extension SyncEngine {
    /// Returns the reads billed on this device to the present user, today and on earlier days, at
    /// most 35 days. Costs a read of a few rows of the cache. Never asks the server.
    public func readReport(
        days: Int = 35, completion: @escaping @Sendable (Result<ReadReport, SyncError>) -> Void
    ) {
        perform { completion($0.readReport(days: days)) }
    }

    /// Returns the reads of the last days, today's included, and the reads that the cache answered.
    package func readBook(
        days: Int, completion: @escaping @Sendable (Result<ReadBookDays, SyncError>) -> Void
    ) {
        perform { completion($0.readBook(days: days)) }
    }

    /// Counts the reads that the cache answers too, from now on.
    package func countCachedReads() { perform { $0.countCachedReads() } }

    /// Reports the state of each budget today.
    public func readBudgetStates(
        completion: @escaping @Sendable (Result<[ReadBudgetState], SyncError>) -> Void
    ) {
        perform { completion($0.readBudgetStates()) }
    }

    /// Reports every bill, budgets, read storms and failed attempts until the returned handle is
    /// cancelled. Called on the engine's executor.
    public func observeReads(
        _ observer: @escaping @Sendable (ReadEvent) -> Void
    ) -> any CancellableCall {
        subscribe {
            $0.parts.meter.observe($1, observer)
        } end: {
            $0.parts.meter.removeObserver($1)
        }
    }

    /// Replaces the budgets, from the next read on.
    public func setReadBudgets(_ budgets: [ReadBudget]) { perform { $0.setBudgets(budgets) } }
}
