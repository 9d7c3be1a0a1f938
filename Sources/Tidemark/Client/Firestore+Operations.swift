import Dispatch
public import Foundation
import TidemarkStore

// MARK: Transactions

extension Firestore {
    /// Runs `body`, and commits what it wrote if nothing that it read has changed meanwhile; else runs
    /// it again, after a wait that grows. Needs the server: known to be offline, it throws `unavailable`
    /// after the first attempt.
    ///
    /// `body` may run several times and must change nothing but by the transaction. What it throws ends
    /// the transaction, unless it is a ``FirestoreError`` that may pass. Reads without writes commit
    /// nothing: each read is then true by itself.
    ///
    /// What is returned was committed once. Where the answer to a commit is lost, `body` runs again as
    /// long as it cannot be done twice: when a document that it reads and changes is still as it was.
    /// Else the transaction throws, with a ``FirestoreError/detail`` that says so: read again and decide.
    ///
    /// - Parameters:
    ///   - maxAttempts: At least 1; 5 is the default of Google's clients.
    ///   - body: Reads, then writes, by the transaction that it is given.
    /// - Throws: What `body` throws, or a ``FirestoreError``: `aborted` or `failedPrecondition` when the
    ///   documents kept changing, and nothing was committed; `unavailable`, `deadlineExceeded`,
    ///   `internal`, `unknown` or `dataLoss` when the server could not be reached or its answer was
    ///   lost; `cancelled` when the task was cancelled or the user changed.
    public func runTransaction<T: Sendable>(
        maxAttempts: Int = 5, _ body: (Transaction) async throws -> T
    ) async throws -> T {
        guard maxAttempts > 0 else {
            throw FirestoreError.invalidArgument("A transaction needs at least one attempt.")
        }
        return try await TransactionRun(firestore: self, maxAttempts: maxAttempts).run(body)
    }

    /// As ``runTransaction(maxAttempts:_:)``.
    public func runTransaction<T: Sendable>(
        with options: TransactionOptions, _ body: (Transaction) async throws -> T
    ) async throws -> T { try await runTransaction(maxAttempts: options.maxAttempts, body) }

    /// As the `async` form, for a block that waits for its reads: it is called on a background queue.
    ///
    /// - Parameters:
    ///   - options: Nil for the defaults.
    ///   - block: Reads, then writes, by the transaction that it is given.
    ///   - completion: Called on the listeners' queue, with what the block returned at its last attempt.
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
                    // Not on the tasks' own threads, which a block that waits would use up.
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

/// Where blocks run that wait for their reads: not on the tasks' own threads, which they would use up.
private let transactionBlocks = DispatchQueue(
    label: "tidemark.transactions", attributes: .concurrent)

// MARK: Bundles

extension Firestore {
    /// Stores a bundle's documents and named queries in the cache; costs no reads.
    ///
    /// - Parameters:
    ///   - data: The whole bundle.
    ///   - progress: Told when a part is stored, on the calling task.
    /// - Returns: The last progress, of the state `success`.
    /// - Throws: `invalidArgument` for what is no bundle of this database; nothing was loaded then
    ///   unless a part was stored before.
    @discardableResult
    public func loadBundle(
        _ data: Data, progress: (@Sendable (LoadBundleTaskProgress) -> Void)? = nil
    ) async throws(FirestoreError) -> LoadBundleTaskProgress {
        var chunks = Chunks(data)
        var loading = BundleLoading(self) { progress?($0) }
        return try await loading.run { () async throws(FirestoreError) in chunks.next() }
    }

    /// As with `Data`. The stream is opened and closed here, and is not to be used elsewhere.
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

    /// As with `Data`, of bytes as they come.
    ///
    /// - Throws: `unavailable` when the bytes end with an error.
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

    /// As the `async` form, without waiting.
    @discardableResult
    public func loadBundle(
        _ data: Data,
        completion: ((LoadBundleTaskProgress?, (any Error)?) -> Void)? = nil
    ) -> LoadBundleTask {
        load(completion) { try await self.loadBundle(data, progress: $0) }
    }

    /// As the `async` form, without waiting.
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

    /// The query of this name in the bundles that were loaded; nil when there is none. Listening to it
    /// goes on from the bundle's result, so that only what changed since is read.
    public func getQuery(named name: String) async throws(FirestoreError) -> Query? {
        let source: [UInt8]? = try await answer { engine.namedQuery(name, completion: $0) }
        guard let source else { return nil }
        do {
            let element = try JSONValueDecoder().decode(BundleElementJSON.self, from: source)
            guard let named = element.namedQuery else { return nil }
            return Query(self, try named.bundledQuery.query(of: databaseID))
        } catch {
            throw (error as? FirestoreError)
                ?? FirestoreError(SyncError.storage(.damaged(detail: "\(error)")))
        }
    }

    /// As the `async` form; `completion` is called on the listeners' queue, with nil when there is no such
    /// query or it could not be looked up.
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
    /// What waits for the server, in the order in which it will be sent.
    public func pendingWrites() async throws(FirestoreError) -> [PendingWrite] {
        try await answer { engine.pendingWrites(completion: $0) }
    }

    /// What the server refused, oldest first. A refused write is undone on this device and kept here
    /// with the reason until it is discarded or tried again, the newest 1,000 of them.
    public func rejectedWrites() async throws(FirestoreError) -> [RejectedWrite] {
        try await answer { engine.rejectedWrites(completion: $0) }
    }

    /// Forgets a rejected write.
    public func discardRejectedWrite(_ batch: Int64) async throws(FirestoreError) {
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.discardRejectedWrite(batch) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Puts a rejected write at the end of the queue again.
    ///
    /// - Throws: `notFound` when there is none of this number.
    public func retryRejectedWrite(
        _ batch: Int64
    ) async throws(FirestoreError) -> WriteReceipt {
        try await receipt { engine.retryRejectedWrite(batch, observer: $0) }
    }

    /// How many writes wait and since when, and how many were refused: now, and after each change.
    /// Ends when the loop is left.
    public var writeQueueStates: AsyncStream<WriteQueueState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { input in
            let handle = engine.observeWriteQueue { input.yield($0) }
            input.onTermination = { _ in handle.cancel() }
        }
    }
}

// MARK: Writes that FirebaseFirestore has not sent

extension Firestore {
    /// Queues what FirebaseFirestore accepted and did not send: each batch once, in the order in which they
    /// were made, behind what waits already. Costs no reads.
    ///
    /// It may be called at each start. A batch and the note that it was queued are one transaction, so that
    /// an app that is killed meanwhile goes on where it was, and loses and doubles nothing. What cannot be
    /// sent is told, and not dropped. A batch that FirebaseFirestore had sent, without having stored the
    /// answer, is sent again, as FirebaseFirestore does it.
    ///
    /// - Parameters:
    ///   - store: What was read of FirebaseFirestore's store. That is not changed.
    ///   - user: Whose writes: the id by Firebase Authentication, which has to be this client's user
    ///     (``changeUser(to:erasingPrevious:)``). Nil for those that were made while nobody was signed in;
    ///     this client must then have no user. The writes of others stay for them.
    /// - Returns: What was queued, now or before, and what cannot be sent.
    /// - Throws: ``FirestoreError``: `failedPrecondition` for another user than this client's, and for a
    ///   cache in memory, in which writes would be lost; `resourceExhausted` while the queue is full; why
    ///   this device cannot store. What was queued until then stays, and the next call goes on behind it. A
    ///   cancelled task throws `cancelled`; the batch that it was at may be queued all the same.
    @discardableResult
    public func sendWrites(
        of store: FirebaseStore, user: String?
    ) async throws(FirestoreError) -> MovedWrites {
        try await WriteMoving(self).send(store, of: user)
    }

    /// What of FirebaseFirestore's store is in no queue of this device: the batches of users who have not
    /// signed in since the update, and those that cannot be sent. When it is empty, nothing is left in the
    /// store but a cache, and its folder may be removed. Costs no reads.
    ///
    /// - Parameter store: What was read of FirebaseFirestore's store.
    /// - Returns: By user, and a user's in the order in which they were made.
    /// - Throws: ``FirestoreError``: as ``sendWrites(of:user:)``.
    public func writesLeft(
        in store: FirebaseStore
    ) async throws(FirestoreError) -> [FirebaseStore.Batch] {
        try await WriteMoving(self).left(in: store)
    }
}

// MARK: Indexes

extension Firestore {
    /// Makes the indexes of a `firestore.indexes.json` on this device, in idle moments; returns once it
    /// is noted which. Those that are there stay. Seldom needed: the indexes that queries would do with
    /// are made on their own.
    ///
    /// - Throws: `invalidArgument` for what is no configuration; nothing has changed then.
    public func setIndexConfiguration(_ json: String) async throws(FirestoreError) {
        let definitions = try IndexConfigurationReader.definitions(in: Data(json.utf8))
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.declareIndexes(definitions) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// As ``setIndexConfiguration(_:)-(String)``, from a stream, of which at most 16 MiB are read.
    public func setIndexConfiguration(
        _ stream: InputStream, isolation: isolated (any Actor)? = #isolation
    ) async throws(FirestoreError) {
        try await setIndexConfiguration(try IndexConfigurationReader.text(of: stream))
    }

    /// As the `async` form; `completion` is called on the listeners' queue.
    public func setIndexConfiguration(
        _ json: String, completion: (((any Error)?) -> Void)?
    ) {
        callBack(completion) { () async throws(FirestoreError) in
            try await self.setIndexConfiguration(json)
        }
    }

    /// As the `async` form; `completion` is called on the listeners' queue.
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
