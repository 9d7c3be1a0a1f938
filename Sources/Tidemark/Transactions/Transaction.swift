import Dispatch
import Synchronization

/// Reads and writes that take effect together or not at all: first reads from the server, then
/// writes. ``Firestore/runTransaction(maxAttempts:_:)`` creates a transaction, which is valid only
/// inside its block.
///
/// A transaction is optimistic: the commit states the version of each document that was read, and
/// the server refuses the commit if a document has changed since. The whole transaction is then
/// tried again.
public final class Transaction: Sendable {
    private struct State {
        var attempt: TransactionAttempt
        /// The error of the first invalid call, which the commit throws.
        var fault: FirestoreError?
        /// The documents that were read and exist.
        var found: [DocumentPath: Document] = [:]
    }

    private let firestore: Firestore
    private let session: UserSession
    private let state: Mutex<State>

    init(_ firestore: Firestore, session: UserSession, attempt: TransactionAttempt) {
        self.firestore = firestore
        self.session = session
        state = Mutex(State(attempt: attempt))
    }

    var attempt: TransactionAttempt { state.withLock(\.attempt) }

    /// Reads a document from the server. Costs one read, even if the document does not exist.
    ///
    /// - Throws: `invalidArgument` after a write; `aborted` if the document was read before in
    ///   another version; the server's error.
    public func getDocument(
        _ document: DocumentReference
    ) async throws(FirestoreError) -> DocumentSnapshot {
        let path = try readable(document)
        let rows: [Lookup] = try await answer { finish in
            session.lookUp([path], tag: document.tag.inScope, completion: finish)
        }
        return try snapshot(document, path: path, row: rows[0])
    }

    private typealias Lookup = (Document?, readTime: Timestamp)

    private func readable(_ document: DocumentReference) throws(FirestoreError) -> DocumentPath {
        let path = try checked(document)
        try noting { attempt throws(SyncError) in try attempt.checkReading() }
        return path
    }

    /// Returns the read document, unless it was read before in another version.
    private func snapshot(
        _ document: DocumentReference, path: DocumentPath, row: Lookup
    ) throws(FirestoreError) -> DocumentSnapshot {
        let (found, readTime) = row
        try state.withLock { state in
            state.found[path] = found
            return Result { () throws(SyncError) in try state.attempt.read(path, found) }
        }.mapError(FirestoreError.init).get()
        return DocumentSnapshot(
            document, path: path, view: found.map { ViewDocument($0) },
            freshness: .fresh(readTime: readTime),
            readTime: readTime)
    }

    /// Reads like the `async` form, for the block of a transaction with closures: blocks the thread
    /// until the server answers, for at most a minute.
    @available(*, noasync)
    public func getDocument(
        _ document: DocumentReference
    ) throws(FirestoreError) -> DocumentSnapshot {
        let path = try readable(document)
        let found = Mutex<Result<[Lookup], SyncError>?>(nil)
        let arrived = DispatchSemaphore(value: 0)
        session.lookUp([path], tag: document.tag.inScope) { result in
            found.withLock { $0 = result }
            arrived.signal()
        }
        // The wait is bounded, because the engine ends every call at its maximum duration.
        arrived.wait()
        let rows = found.withLock { $0 }!.mapError(FirestoreError.init)
        return try snapshot(document, path: path, row: try rows.get()[0])
    }

    /// Replaces the document or, with `merge`, writes the given fields.
    @discardableResult
    public func setData(
        _ data: [String: Any], forDocument document: DocumentReference, merge: Bool = false
    ) -> Transaction {
        write(document) { path throws(FirestoreError) in
            merge ? try WriteTranslation.merge(path, data) : try WriteTranslation.set(path, data)
        }
    }

    /// Writes only the listed fields, each of which must be in the data.
    @discardableResult
    public func setData(
        _ data: [String: Any], forDocument document: DocumentReference,
        mergeFields: [Any]
    ) -> Transaction {
        write(document) { path throws(FirestoreError) in
            try WriteTranslation.merge(path, data, fields: mergeFields)
        }
    }

    /// Changes fields of a document that must exist.
    @discardableResult
    public func updateData(
        _ fields: [AnyHashable: Any], forDocument document: DocumentReference
    ) -> Transaction {
        write(document, isUpdate: true) { path throws(FirestoreError) in
            try WriteTranslation.update(path, try WriteTranslation.named(fields))
        }
    }

    @discardableResult
    public func deleteDocument(_ document: DocumentReference) -> Transaction {
        write(document) { path throws(FirestoreError) in Mutation(path: path, .delete) }
    }

    // MARK: Writing

    private func checked(_ document: DocumentReference) throws(FirestoreError) -> DocumentPath {
        try noting { attempt throws(SyncError) in
            guard document.firestore === firestore else {
                throw .invalidArgument("\(document.path) belongs to another Firestore.")
            }
            try attempt.checkRunning()
        }
        return try document.documentPath()
    }

    /// An error of the body is thrown by the commit too.
    private func noting(
        _ body: (inout TransactionAttempt) throws(SyncError) -> Void
    ) throws(FirestoreError) {
        try state.withLock { state in
            do throws(SyncError) {
                try body(&state.attempt)
                return Result<Void, FirestoreError>.success(())
            } catch {
                let fault = FirestoreError(error)
                state.fault = state.fault ?? fault
                return .failure(fault)
            }
        }.get()
    }

    private func write(
        _ document: DocumentReference, isUpdate: Bool = false,
        _ translate: (DocumentPath) throws(FirestoreError) -> Mutation
    ) -> Transaction {
        do throws(FirestoreError) {
            let mutation = try translate(try checked(document))
            let found = state.withLock { $0.found[mutation.path] }
            if let lost = TwinNames.lost(by: mutation, from: found?.fields) {
                throw FirestoreError(TwinNames.refusal(lost, of: mutation.path))
            }
            try noting { attempt throws(SyncError) in
                try attempt.write(mutation, isUpdate: isUpdate)
            }
        } catch { state.withLock { $0.fault = $0.fault ?? error } }
        return self
    }

    /// Returns the mutations to commit: the writes, and the checks that documents that were only
    /// read are unchanged.
    func take() throws(FirestoreError) -> [Mutation] {
        try state.withLock { state in
            let taken = Result { () throws(SyncError) in try state.attempt.take() }
                .mapError(FirestoreError.init)
            return state.fault.map { .failure($0) } ?? taken
        }.get()
    }
}
