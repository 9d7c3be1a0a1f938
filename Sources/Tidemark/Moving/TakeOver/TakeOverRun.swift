import Foundation

/// The reason why a take-over stops.
enum TakeOverFailure: Error {
    /// The store cannot be read now, or not at all.
    case store(FirebaseStoreError)
    /// This client's cache is another user's, cannot be written, or the task was cancelled.
    case client(FirestoreError)
}

/// Performs a take-over: the documents that waiting writes change, the writes, the queries of the
/// first screen, and then everything else in parts. A repeated step changes nothing.
struct TakeOverRun {
    private let firestore: Firestore
    private let folder: URL
    private let user: String?
    private let wanted: CacheTakeOver.Documents
    private let first: [QueryValue]
    private let board: ProgressBoard
    private let list: MovedList

    /// - Throws: `failedPrecondition` for a cache in memory.
    init(
        _ firestore: Firestore, folder: URL, user: String?,
        documents: CacheTakeOver.Documents, first: [QueryValue], board: ProgressBoard
    ) throws(FirestoreError) {
        self.firestore = firestore
        self.folder = folder
        self.user = user
        wanted = documents
        self.first = first
        self.board = board
        list = try WriteMoving(firestore).list()
    }

    func run() async throws(FirestoreError) -> CacheTakeOver.Outcome {
        var outcome = CacheTakeOver.Outcome()
        var store: FirebaseStore?
        do throws(FirebaseStoreError) { store = try FirebaseStore(folder: folder) } catch {
            outcome.writesProblem = error
        }
        do throws(TakeOverFailure) {
            let parts = try await open(&outcome)
            if let parts { try await parts.takeBases(of: store) }
            if let store { outcome.writes = try await send(store) }
            if let parts { try await take(parts, &outcome) }
        } catch {
            switch error {
            case .client(let error): throw error
            case .store(let error): outcome.refusal = .unreadable(error)
            }
        }
        outcome.mayRemove = try await mayRemove(store, outcome)
        return outcome
    }

    private func send(_ store: FirebaseStore) async throws(TakeOverFailure) -> MovedWrites {
        do throws(FirestoreError) {
            return try await firestore.sendWrites(of: store, user: user)
        } catch { throw .client(error) }
    }

    /// A store that cannot be read now can be read later.
    private func mayRemove(
        _ store: FirebaseStore?, _ outcome: CacheTakeOver.Outcome
    ) async throws(FirestoreError) -> Bool {
        if case .unreadable(.unreadable) = outcome.refusal { return false }
        guard let store else { return false }
        return try await firestore.writesLeft(in: store).isEmpty
    }

    /// Opens the store, decides about its documents, and begins or continues.
    ///
    /// - Returns: Nil if no documents are taken; ``CacheTakeOver/Outcome/refusal`` says why.
    private func open(
        _ outcome: inout CacheTakeOver.Outcome
    ) async throws(TakeOverFailure) -> TakeOverParts? {
        outcome.refusal = .notWanted
        if case .none = wanted { return nil }
        let cache: FirebaseCache
        do throws(FirebaseStoreError) {
            cache = try FirebaseCache(folder, firestore.databaseID)
        } catch { throw .store(error) }
        outcome.refusal = cache.refusal
        if cache.refusal != nil { return nil }
        let accepts: (@Sendable (DocumentPath) -> Bool)?
        switch TakeOverVerdict(wanted, traces: cache.traces, user: user) {
        case .refuse(let reason):
            outcome.refusal = reason
            return nil
        case .take(let filter): accepts = filter
        }
        let mark = cache.reader.digest
        let isSpent = list.marks.contains(mark)
        let source = TakeOverSource(
            mark: mark, user: user, targetCount: cache.targets.count, isSpent: isSpent)
        let parts = TakeOverParts(
            TakeOverCalls(firestore.engine, source), cache: cache, accepts: accepts)
        let state = try await parts.begin()
        if state == .done {
            outcome.refusal = .takenBefore
            return nil
        }
        // From now on no other user gets these documents.
        if !isSpent { list.add([mark]) }
        guard list.marks.contains(mark) else {
            throw .client(
                FirestoreError(
                    .unavailable, "The list beside the cache cannot be written now."))
        }
        return parts
    }

    private func take(
        _ parts: TakeOverParts, _ outcome: inout CacheTakeOver.Outcome
    ) async throws(TakeOverFailure) {
        let notify: () -> Void = { board.change { $0.targets += 1 } }
        try await parts.take(first, notify)
        // An app that names no queries gets those that were used last as its first screen.
        if first.isEmpty { try await parts.takeLatest(notify) }
        board.change { $0.hasFirstScreen = true }
        if !first.isEmpty { try await parts.takeLatest(notify) }
        try await parts.takeAll { count in board.change { $0.documents = count } }
        try await parts.adoptTargets { count in board.change { $0.targets += count } }
        try await parts.finish()
        let cache = parts.cache
        (outcome.documents, outcome.targets) = (parts.documentCount, parts.targetCount)
        (outcome.leftOut, outcome.problems) = (cache.leftOut, cache.reader.damage.problems)
        outcome.hasTornEnd = cache.reader.hasTornEnd
    }
}
