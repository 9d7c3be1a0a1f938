import Dispatch
public import Foundation
import Synchronization
import TidemarkStore
import TidemarkWire

// MARK: Transactions

extension Firestore {
    /// Runs `body`, and commits its writes if none of the read documents has changed in the
    /// meantime. Otherwise runs `body` again, after a delay that grows. Needs the server: if the
    /// device is known to be offline, the function throws `unavailable` after the first attempt.
    ///
    /// `body` may run several times, so it must change data only through the transaction. An error
    /// that `body` throws ends the transaction, unless it is a ``FirestoreError`` for which another
    /// attempt can succeed. A transaction without writes commits nothing: each read is correct on
    /// its own, but the reads can be of different moments.
    ///
    /// A returned result was committed exactly once. If the answer to a commit is lost, `body` runs
    /// again only if the commit cannot be applied twice, because both attempts change the same
    /// document and require the same version of it. Otherwise the transaction throws, and
    /// ``FirestoreError/detail`` states this: read the documents again and decide.
    ///
    /// - Parameters:
    ///   - maxAttempts: The maximum number of attempts, at least 1. Google's clients use 5 by
    ///     default.
    ///   - body: Reads and then writes through its transaction.
    /// - Throws: The error of `body`, or a ``FirestoreError``: `aborted` or `failedPrecondition` if
    ///   the documents kept changing, and nothing was committed; `unavailable`, `deadlineExceeded`,
    ///   `internal`, `unknown` or `dataLoss` if the server could not be reached or its answer was
    ///   lost; `cancelled` if the task was cancelled or the user changed.
    public func runTransaction<T: Sendable>(
        maxAttempts: Int = 5, _ body: (Transaction) async throws -> T
    ) async throws -> T {
        guard maxAttempts > 0 else {
            throw FirestoreError.invalidArgument("A transaction needs at least one attempt.")
        }
        return try await TransactionRun(firestore: self, maxAttempts: maxAttempts).run(body)
    }

    /// Runs like ``runTransaction(maxAttempts:_:)``.
    public func runTransaction<T: Sendable>(
        with options: TransactionOptions, _ body: (Transaction) async throws -> T
    ) async throws -> T { try await runTransaction(maxAttempts: options.maxAttempts, body) }

    /// Runs like the `async` form, for a block that waits for its reads. The block is called on a
    /// background queue.
    ///
    /// - Parameters:
    ///   - options: The options; nil for the defaults.
    ///   - block: Reads and then writes through its transaction.
    ///   - completion: Called on the listeners' queue, with the result of the block's last attempt.
    public func runTransaction<T: Sendable>(
        with options: TransactionOptions?,
        block: @escaping @Sendable (Transaction) throws -> T,
        completion: @escaping (T?, (any Error)?) -> Void
    ) {
        let queue = callbackQueue
        let attempts = (options ?? TransactionOptions()).maxAttempts
        let completion = AppClosure(completion)
        Task {
            do {
                let value = try await runTransaction(maxAttempts: attempts) { transaction in
                    // A block that waits must not use the threads of Swift's tasks, because there
                    // are only a few.
                    try await withCheckedThrowingContinuation { continuation in
                        transactionBlocks.async {
                            continuation.resume(with: Result { try block(transaction) })
                        }
                    }
                }
                queue.async { completion.call(value, nil) }
            } catch { queue.async { completion.call(nil, error) } }
        }
    }

    public func runTransaction<T: Sendable>(
        _ block: @escaping @Sendable (Transaction) throws -> T,
        completion: @escaping (T?, (any Error)?) -> Void
    ) { runTransaction(with: nil, block: block, completion: completion) }
}

/// The queue of blocks that wait for their reads. It has its own threads, because waiting blocks
/// would use up the threads of Swift's tasks.
private let transactionBlocks = DispatchQueue(
    label: "tidemark.transactions", attributes: .concurrent)

// MARK: Bundles

extension Firestore {
    /// Stores a bundle's documents and named queries in the cache; costs no reads.
    ///
    /// - Parameters:
    ///   - data: The whole bundle.
    ///   - progress: Called on the calling task when a part is stored.
    /// - Returns: The last progress, with the state `success`.
    /// - Throws: `invalidArgument` if the data are not a bundle of this database. Parts that were
    ///   stored before the error stay.
    @discardableResult
    public func loadBundle(
        _ data: Data, progress: (@Sendable (LoadBundleTaskProgress) -> Void)? = nil
    ) async throws(FirestoreError) -> LoadBundleTaskProgress {
        var chunks = Chunks(data)
        var loading = BundleLoading(self) { progress?($0) }
        return try await loading.run { () async throws(FirestoreError) in chunks.next() }
    }

    /// Loads the bundle like the form with `Data`. This function opens and closes the stream; do
    /// not use the stream elsewhere.
    @discardableResult
    public func loadBundle(
        _ stream: InputStream, progress: (@Sendable (LoadBundleTaskProgress) -> Void)? = nil
    ) async throws(FirestoreError) -> LoadBundleTaskProgress {
        let bytes = StreamedBytes(stream)
        var loading = BundleLoading(self) { progress?($0) }
        return try await loading.run { () async throws(FirestoreError) in
            try await bytes.nextWhenThere()
        }
    }

    /// Loads the bundle like the form with `Data`, from bytes as they arrive.
    ///
    /// - Throws: `unavailable` if the bytes end with an error.
    @discardableResult
    public func loadBundle<Bytes: AsyncSequence>(
        bytes: Bytes, progress: (@Sendable (LoadBundleTaskProgress) -> Void)? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) -> LoadBundleTaskProgress where Bytes.Element == UInt8 {
        var iterator = bytes.makeAsyncIterator()
        var loading = BundleLoading(self) { progress?($0) }
        return try await loading.run { () async throws(FirestoreError) in
            var chunk: [UInt8] = []
            chunk.reserveCapacity(Chunks.size)
            do {
                while chunk.count < Chunks.size,
                    let byte = try await iterator.next(isolation: isolation)
                { chunk.append(byte) }
            } catch { throw FirestoreError(.unavailable, "The bundle's bytes ended: \(error)") }
            return chunk.isEmpty ? nil : chunk
        }
    }

    /// Loads the bundle like the `async` form, without waiting.
    @discardableResult
    public func loadBundle(
        _ data: Data,
        completion: ((LoadBundleTaskProgress?, (any Error)?) -> Void)? = nil
    ) -> LoadBundleTask {
        load(completion) { try await self.loadBundle(data, progress: $0) }
    }

    /// Loads the bundle like the `async` form, without waiting.
    @discardableResult
    public func loadBundle(
        _ stream: InputStream,
        completion: ((LoadBundleTaskProgress?, (any Error)?) -> Void)? = nil
    ) -> LoadBundleTask {
        let bytes = StreamedBytes(stream)
        return load(completion) { report in
            var loading = BundleLoading(self, report)
            return try await loading.run { () async throws(FirestoreError) in
                try await bytes.nextWhenThere()
            }
        }
    }

    private func load(
        _ completion: ((LoadBundleTaskProgress?, (any Error)?) -> Void)?,
        _ body:
            @escaping @Sendable (
                @escaping @Sendable (LoadBundleTaskProgress) -> Void
            ) async throws -> LoadBundleTaskProgress
    ) -> LoadBundleTask {
        let queue = callbackQueue
        let task = LoadBundleTask(queue)
        let completion = AppClosure(completion)
        Task {
            do {
                let progress = try await body { task.report($0) }
                queue.async { completion.call?(progress, nil) }
            } catch { queue.async { completion.call?(nil, error) } }
        }
        return task
    }

    /// Returns the query with this name in the loaded bundles; nil if there is none. A listener of
    /// the query resumes from the bundle's result, so only later changes are read.
    public func getQuery(named name: String) async throws(FirestoreError) -> Query? {
        let source: [UInt8]? = try await answer { engine.namedQuery(name, completion: $0) }
        guard let source else { return nil }
        // A query that was taken over from FirebaseFirestore is stored as its message.
        if let stored = try? StoredNamedQuery(source) { return Query(self, stored.query) }
        do {
            let element = try JSONValueDecoder().decode(BundleElementJSON.self, from: source)
            guard let named = element.namedQuery else { return nil }
            return Query(self, try named.bundledQuery.query(of: databaseID))
        } catch {
            throw (error as? FirestoreError)
                ?? FirestoreError(SyncError.storage(.damaged(detail: "\(error)")))
        }
    }

    /// Runs like the `async` form. `completion` is called on the listeners' queue, with nil if
    /// there is no such query or the lookup failed.
    public func getQuery(
        named name: String, completion: @escaping (Query?) -> Void
    ) {
        let queue = callbackQueue
        let completion = AppClosure(completion)
        Task {
            let query = try? await self.getQuery(named: name)
            queue.async { completion.call(query) }
        }
    }
}

// MARK: The queue of writes, for an app that shows it or takes care of what was refused

extension Firestore {
    /// Returns the writes that wait for the server, in the order in which they will be sent.
    public func pendingWrites() async throws(FirestoreError) -> [PendingWrite] {
        try await answer { engine.pendingWrites(completion: $0) }
    }

    /// Returns the writes that the server refused, oldest first. A refused write is undone on this
    /// device. It is kept here with the reason until it is discarded or tried again; only the
    /// newest 1,000 are kept.
    public func rejectedWrites() async throws(FirestoreError) -> [RejectedWrite] {
        try await answer { engine.rejectedWrites(completion: $0) }
    }

    /// Deletes a rejected write from the list.
    public func discardRejectedWrite(_ batch: Int64) async throws(FirestoreError) {
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.discardRejectedWrite(batch) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Puts a rejected write at the end of the queue again.
    ///
    /// - Throws: `notFound` if there is no rejected write with this number.
    public func retryRejectedWrite(
        _ batch: Int64
    ) async throws(FirestoreError) -> WriteReceipt {
        try await receipt { engine.retryRejectedWrite(batch, observer: $0) }
    }

    /// The number of pending writes, the time of the oldest one, and the number of refused writes:
    /// the current state, then each change. The sequence ends when the loop is left.
    public var writeQueueStates: AsyncStream<WriteQueueState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { input in
            let handle = engine.observeWriteQueue { input.yield($0) }
            input.onTermination = { _ in handle.cancel() }
        }
    }
}

// MARK: What FirebaseFirestore has left on the device

extension Firestore {
    /// Takes over what FirebaseFirestore has left on this device: the writes that it has not sent,
    /// its documents, and the results of its queries with the times as of which they are complete.
    /// Costs no reads.
    ///
    /// Call it at each start after the app knows the signed-in user, before the first listener,
    /// until the folder is removed. It returns when the writes are queued and the results of the
    /// first screen are in this client's cache, so that the first screen shows its content without
    /// a network. Everything else follows in parts while the app runs. A kill between two parts
    /// loses nothing, and the next call goes on behind the last part. A call during an earlier one
    /// begins when that is over. Nothing in the folder is changed; ``FirebaseStore/remove(_:)``
    /// removes it.
    ///
    /// A query's result is taken only with every row, and with documents at least as new as the
    /// result. The next listen to such a query receives what changed since, and is billed for the
    /// changes for 30 minutes after FirebaseFirestore's last contact, and for the whole result
    /// later. A feed begins at the time of the result, however old it is.
    ///
    /// - Parameters:
    ///   - folder: A folder from ``FirebaseStore/folder(projectID:databaseID:app:)``.
    ///   - user: The signed-in user: the id by Firebase Authentication, which must be this client's
    ///     user (``changeUser(to:erasingPrevious:)``); nil for none.
    ///   - documents: The documents that are taken. FirebaseFirestore's cache does not say whose
    ///     they are.
    ///   - first: The queries of the first screen. The 20 queries that were used last follow when
    ///     the call has returned; if there are no queries of the first screen, the call waits for
    ///     these. Results of more than 500 rows or 4 MiB are taken with everything else.
    /// - Returns: The take-over, with its progress and its outcome. A store that cannot be taken is
    ///   an outcome and no error.
    /// - Throws: ``FirestoreError``, as ``sendWrites(of:user:)`` does.
    @discardableResult
    public func takeOver(
        _ folder: URL, user: String?, documents: CacheTakeOver.Documents = .ofOnlyUser,
        first: [Query] = []
    ) async throws(FirestoreError) -> CacheTakeOver {
        var values: [QueryValue] = []
        for query in first { values.append(try query.runnable()) }
        let queries = values
        let takeOver = started.takeOver.withLock { last in
            let next = CacheTakeOver(after: last) { [self] board async throws(FirestoreError) in
                try await TakeOverRun(
                    self, folder: folder, user: user, documents: documents, first: queries,
                    board: board
                ).run()
            }
            last = next
            return next
        }
        try await takeOver.awaitFirstScreen()
        return takeOver
    }

    /// Queues the writes that FirebaseFirestore accepted and did not send: each batch once, in the
    /// order of creation, after the writes that wait already. Costs no reads.
    ///
    /// Call this at each start. A batch and the note that it was queued are one transaction. An app
    /// that is killed in between continues with the next batch, and neither loses nor repeats a
    /// write. Batches that cannot be sent are returned, and not dropped. A batch that
    /// FirebaseFirestore had sent without storing the answer is sent again, as FirebaseFirestore
    /// would do.
    ///
    /// - Parameters:
    ///   - store: The contents of FirebaseFirestore's store. The store is not changed.
    ///   - user: The user whose writes are queued: the id by Firebase Authentication, which must be
    ///     this client's user (``changeUser(to:erasingPrevious:)``). Nil for writes that were made
    ///     while no user was signed in; this client must then have no user. The writes of other
    ///     users stay in the store.
    /// - Returns: The batches that were queued, now or before, and the batches that cannot be sent.
    /// - Throws: ``FirestoreError``: `failedPrecondition` if the user is not this client's, or if
    ///   the cache is in memory, where a kill would lose the writes; `resourceExhausted` while the
    ///   queue is full; the storage error of this device. Queued batches stay queued, and the next
    ///   call continues after them. A cancelled task throws `cancelled`; the batch in progress can
    ///   have been queued.
    @discardableResult
    public func sendWrites(
        of store: FirebaseStore, user: String?
    ) async throws(FirestoreError) -> MovedWrites {
        try await WriteMoving(self).send(store, of: user)
    }

    /// Returns the batches of FirebaseFirestore's store that no queue of this device contains:
    /// those of users who have not signed in since the update, and those that cannot be sent. If
    /// the result is empty, the store contains only a cache, and the app can delete its folder.
    /// Costs no reads.
    ///
    /// - Parameter store: The contents of FirebaseFirestore's store.
    /// - Returns: The batches by user, each user's in the order of creation.
    /// - Throws: ``FirestoreError``, as ``sendWrites(of:user:)`` does.
    public func writesLeft(
        in store: FirebaseStore
    ) async throws(FirestoreError) -> [FirebaseStore.Batch] {
        try await WriteMoving(self).left(in: store)
    }
}

// MARK: Indexes

extension Firestore {
    /// Creates the indexes of a `firestore.indexes.json` on this device, while the client is idle.
    /// Returns when the list of indexes is stored. Existing indexes stay. This is rarely needed,
    /// because the client creates the indexes that queries need.
    ///
    /// - Throws: `invalidArgument` if the text is not an index configuration; then nothing has
    ///   changed.
    public func setIndexConfiguration(_ json: String) async throws(FirestoreError) {
        let definitions = try IndexConfigurationReader.definitions(in: Data(json.utf8))
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.declareIndexes(definitions) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Makes these the only word indexes on this device. Call it at each start, before the first
    /// search. Costs no reads.
    ///
    /// An index that exists stays. A new one is filled with the cache's documents while the client
    /// is idle; until then, a search reads each document of the collection. From then on, the
    /// transaction that stores a document stores its words. Searches look only at the fields of the
    /// index, and see pending writes. The indexes are in the file of the cache, so a cache with a
    /// key encrypts them; the file of a later user gets them too.
    ///
    /// - Parameter indexes: At most one for each collection id; empty to delete all.
    /// - Throws: `invalidArgument` for a wrong or repeated collection id, for a wrong field, and
    ///   beyond ``WordIndex/maxCount`` and ``WordIndex/maxFields``; `unimplemented` if the system's
    ///   SQLite has no full-text search. Nothing has changed then.
    public func setWordIndexes(_ indexes: [WordIndex]) async throws(FirestoreError) {
        if indexes.count > WordIndex.maxCount {
            throw .invalidArgument("There can be at most \(WordIndex.maxCount) word indexes.")
        }
        var definitions: [WordIndexDefinition] = []
        for index in indexes { definitions.append(try index.definition()) }
        let ids = Set(definitions.map { ByteString($0.collectionID) })
        if ids.count < definitions.count {
            throw .invalidArgument("There can be one word index for each collection id.")
        }
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.setWordIndexes(definitions) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Runs like ``setIndexConfiguration(_:)-(String)``, with the text of a stream, of which at
    /// most 16 MiB are read.
    public func setIndexConfiguration(
        _ stream: InputStream, isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) {
        try await setIndexConfiguration(try IndexConfigurationReader.text(of: stream))
    }

    /// Runs like the `async` form; `completion` is called on the listeners' queue.
    public func setIndexConfiguration(
        _ json: String, completion: (((any Error)?) -> Void)?
    ) {
        callBack(completion) { () async throws(FirestoreError) in
            try await self.setIndexConfiguration(json)
        }
    }

    /// Runs like the `async` form; `completion` is called on the listeners' queue.
    public func setIndexConfiguration(
        _ stream: InputStream, completion: (((any Error)?) -> Void)?
    ) {
        let json = Result { () throws(FirestoreError) in
            try IndexConfigurationReader.text(of: stream)
        }
        callBack(completion) { () async throws(FirestoreError) in
            try await self.setIndexConfiguration(try json.get())
        }
    }
}
