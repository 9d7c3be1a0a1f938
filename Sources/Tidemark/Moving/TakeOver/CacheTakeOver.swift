import Synchronization

/// The take-over of FirebaseFirestore's cache: see ``Firestore/takeOver(_:user:documents:first:)``.
///
/// The queries of the first screen are in this client's cache when the call returns. Everything
/// else follows in parts while the app runs; a kill or a cancellation between two parts loses
/// nothing, and the next call goes on behind the last part.
public final class CacheTakeOver: Sendable {
    /// The documents that are taken over. FirebaseFirestore's cache does not say whose a document
    /// is: it shows all documents to every user of the device.
    public enum Documents: Sendable {
        /// Takes all documents if only the signed-in user has left traces in the store, which are
        /// writes that were sent or that wait. Takes no document if others have, or nobody.
        case ofOnlyUser
        /// Takes the documents whose path the app accepts, whoever has left traces. The result of
        /// a query is taken if it has documents and the app accepts all of them.
        case matching(@Sendable (DocumentPath) -> Bool)
        /// Takes all documents, because every user of this app may see them.
        case all
        /// Takes no document. Only the unsent writes are moved.
        case none
    }

    /// The progress after a part.
    public struct Progress: Hashable, Sendable {
        /// The number of documents that were looked at, in this process.
        public internal(set) var documents = 0
        /// The number of queries whose results are complete in this client's cache, taken in this
        /// process.
        public internal(set) var targets = 0
        /// True when the queries of the first screen are in this client's cache, as far as the
        /// store has them.
        public internal(set) var hasFirstScreen = false
        /// True when nothing is left, or when the take-over has failed.
        public internal(set) var isDone = false
    }

    /// The result of a take-over.
    public struct Outcome: Sendable {
        /// The writes of the user that were queued, or that cannot be sent.
        public internal(set) var writes = MovedWrites()
        /// The reason why the unsent writes cannot be read; nil if they were read.
        public internal(set) var writesProblem: FirebaseStoreError?
        /// The reason why no documents were taken; nil if they were.
        public internal(set) var refusal: Refusal?
        /// The number of documents that this call stored or found to be here already.
        public internal(set) var documents = 0
        /// The number of queries of which the whole result was taken. Their next listen asks for
        /// what changed since.
        public internal(set) var targets = 0
        /// The number of documents and queries that were not taken, by reason.
        public internal(set) var leftOut: [Reason: Int] = [:]
        /// The damage of the store, in the order in which it was met. The documents in damaged
        /// places are read from the server again.
        public internal(set) var problems: [FirebaseStoreError] = []
        /// True if the store ends within a record, as after a kill: then it is read as it was
        /// before that record.
        public internal(set) var hasTornEnd = false
        /// True if no user's writes are left in the store, and its documents are taken or given
        /// up: the app can remove the folder.
        public internal(set) var mayRemove = false
    }

    /// The reason why a document or a query is not taken.
    public enum Reason: Hashable, Sendable, CaseIterable {
        /// Its bytes cannot be read, or have parts that are unknown here.
        case unreadable
        /// It belongs to another database.
        case otherDatabase
        /// The app's filter does not accept it.
        case notAccepted
        /// A document of no query, and the cache is nearly full.
        case noRoom
        /// A query of which a row or its document is missing, damaged or older than the result.
        case incomplete
        /// A query beyond the 2,000 that were used last.
        case tooMany
    }

    /// The reason why no documents were taken.
    public enum Refusal: Hashable, Sendable {
        /// The app asked for the writes only.
        case notWanted
        /// Other users have left traces in the store.
        case otherUsers
        /// No user has left traces in the store.
        case unknownOwner
        /// The documents were taken earlier, by this user or another one.
        case takenBefore
        /// The store is of another database.
        case otherDatabase(String)
        /// A version of FirebaseFirestore that is not known here has written the store.
        case unknownVersion(String)
        /// The store cannot be read.
        case unreadable(FirebaseStoreError)
    }

    private let board: ProgressBoard
    private let task: Task<Result<Outcome, FirestoreError>, Never>

    /// - Parameter last: The take-over that must be over before. Two at once would store the same
    ///   rows twice, and the later one could do so after a listener has removed some.
    init(
        after last: CacheTakeOver?,
        _ run: @escaping @Sendable (ProgressBoard) async throws(FirestoreError) -> Outcome
    ) {
        let board = ProgressBoard()
        self.board = board
        task = Task.detached(priority: .userInitiated) { [last = last?.task] in
            _ = await last?.value
            let result: Result<Outcome, FirestoreError>
            do throws(FirestoreError) { result = .success(try await run(board)) } catch {
                result = .failure(error)
            }
            board.change { $0.isDone = true }
            return result
        }
    }

    /// The present progress, then each change. Ends when nothing is left, or when the loop is left.
    public var progress: AsyncStream<Progress> { board.stream }

    /// Waits until nothing is left.
    ///
    /// - Throws: ``FirestoreError``: `cancelled` after ``cancel()``; `failedPrecondition` if the
    ///   user has changed, or if the cache is in memory; the storage error of this device. What was
    ///   taken stays, and the next call of `takeOver` goes on behind it.
    public func outcome() async throws(FirestoreError) -> Outcome { try await task.value.get() }

    /// Stops after the part that is being stored.
    public func cancel() { task.cancel() }

    /// Waits until the first screen's queries are in the cache.
    func awaitFirstScreen() async throws(FirestoreError) {
        for await progress in progress {
            if progress.hasFirstScreen { return }
        }
        if Task.isCancelled {
            cancel()
            throw .cancelled
        }
        _ = try await outcome()
    }
}

/// The progress, and those who watch it.
final class ProgressBoard: Sendable {
    private struct State {
        var progress = CacheTakeOver.Progress()
        var watchers: [Int: AsyncStream<CacheTakeOver.Progress>.Continuation] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    func change(_ body: (inout CacheTakeOver.Progress) -> Void) {
        state.withLock { state in
            body(&state.progress)
            for watcher in state.watchers.values {
                watcher.yield(state.progress)
                if state.progress.isDone { watcher.finish() }
            }
        }
    }

    var stream: AsyncStream<CacheTakeOver.Progress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { input in
            let number = state.withLock { state in
                input.yield(state.progress)
                state.next += 1
                if state.progress.isDone {
                    input.finish()
                } else {
                    state.watchers[state.next] = input
                }
                return state.next
            }
            input.onTermination = { [weak self] _ in self?.remove(number) }
        }
    }

    private func remove(_ number: Int) {
        // A watcher that ends inside ``change(_:)`` is removed there already.
        Task { [weak self] in self?.state.withLock { $0.watchers[number] = nil } }
    }
}
