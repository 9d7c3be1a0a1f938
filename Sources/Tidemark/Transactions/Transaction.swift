import Dispatch
import Synchronization

/// Reads and writes that take effect together or not at all: reads first, from the server, then
/// writes. Made by ``Firestore/runTransaction(maxAttempts:_:)``, and of use only inside it.
///
/// Optimistic: the commit says which version of each document was read, and the server refuses it when
/// one has changed since; the whole is then tried again.
public final class Transaction: Sendable {
    private struct State {
        /// By document: the version that was read, nil for none.
        var versions: [DocumentPath: Timestamp?] = [:]
        var written: Set<DocumentPath> = []
        var mutations: [Mutation] = []
        /// The first call that made no sense: the commit throws it.
        var fault: FirestoreError?
        var isCommitted = false
    }

    private let firestore: Firestore
    private let state = Mutex(State())

    init(_ firestore: Firestore) { self.firestore = firestore }

    /// Reads a document from the server. Costs one read, also when it does not exist.
    ///
    /// - Throws: `invalidArgument` after a write; `aborted` when the document was read before in
    ///   another version; what the server says.
    public func getDocument(
        _ document: DocumentReference
    ) async throws(FirestoreError) -> DocumentSnapshot {
        let path = try readable(document)
        let rows: [Lookup] = try await answer { finish in
            firestore.engine.lookUp([path], tag: document.tag.inScope, completion: finish)
        }
        return try snapshot(document, path, rows[0])
    }

    private typealias Lookup = (Document?, readTime: Timestamp)

    private func readable(_ document: DocumentReference) throws(FirestoreError) -> DocumentPath {
        let path = try checked(document)
        if !state.withLock({ $0.mutations.isEmpty }) {
            throw fault("Read all documents of a transaction before the first write.")
        }
        return path
    }

    /// What was read, unless it was read before in another version.
    private func snapshot(
        _ document: DocumentReference, _ path: DocumentPath, _ row: Lookup
    ) throws(FirestoreError) -> DocumentSnapshot {
        let (found, readTime) = row
        let isSame = state.withLock { state in
            if let before = state.versions[path] { return before == found?.updateTime }
            state.versions[path] = .some(found?.updateTime)
            return true
        }
        guard isSame else {
            throw FirestoreError(.aborted, "\(path) changed while the transaction read it.")
        }
        return DocumentSnapshot(
            document, path, found.map { ViewDocument($0) }, freshness: .fresh(readTime: readTime),
            readTime: readTime)
    }

    /// As the `async` form, for the block of a transaction with closures: waits for the server here, for
    /// a minute at the most.
    @available(*, noasync)
    public func getDocument(
        _ document: DocumentReference
    ) throws(FirestoreError) -> DocumentSnapshot {
        let path = try readable(document)
        let found = Mutex<Result<[Lookup], SyncError>?>(nil)
        let arrived = DispatchSemaphore(value: 0)
        firestore.engine.lookUp([path], tag: document.tag.inScope) { result in
            found.withLock { $0 = result }
            arrived.signal()
        }
        // The engine ends every call within its longest one.
        arrived.wait()
        let rows = found.withLock { $0 }!.mapError(FirestoreError.init)
        return try snapshot(document, path, try rows.get()[0])
    }

    /// Replaces the document or, with `merge`, writes the fields given.
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
        mergeFields: [any FieldName]
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
        guard document.firestore === firestore else {
            throw fault("\(document.path) belongs to another Firestore.")
        }
        if state.withLock(\.isCommitted) { throw fault("The transaction is over.") }
        return try document.documentPath()
    }

    private func fault(_ detail: String) -> FirestoreError {
        let error = FirestoreError.invalidArgument(detail)
        state.withLock { $0.fault = $0.fault ?? error }
        return error
    }

    private func write(
        _ document: DocumentReference, isUpdate: Bool = false,
        _ translate: (DocumentPath) throws(FirestoreError) -> Mutation
    ) -> Transaction {
        do throws(FirestoreError) {
            let path = try checked(document)
            var mutation = try translate(path)
            let precondition = try precondition(of: path, isUpdate: isUpdate)
            if let precondition { mutation.precondition = precondition }
            state.withLock { state in
                state.mutations.append(mutation)
                state.written.insert(path)
            }
        } catch { state.withLock { $0.fault = $0.fault ?? error } }
        return self
    }

    /// That the document is as it was read; nil for what the write says of itself.
    private func precondition(
        of path: DocumentPath, isUpdate: Bool
    ) throws(FirestoreError) -> Precondition? {
        let (version, isWritten) = state.withLock { state in
            (state.versions[path], state.written.contains(path))
        }
        // What comes after the first write of a document finds what that one made of it.
        guard let version, !isWritten else { return nil }
        if let version { return .updateTime(version) }
        if isUpdate {
            throw FirestoreError.invalidArgument("\(path) cannot be updated: it does not exist.")
        }
        return .exists(false)
    }

    /// What is to be committed: the writes, and that what was read and not written is unchanged.
    func take() throws(FirestoreError) -> [Mutation] {
        let state = state.withLock { state in
            defer { state.isCommitted = true }
            return state
        }
        if let fault = state.fault { throw fault }
        if state.mutations.isEmpty { return [] }
        let untouched = state.versions.filter { !state.written.contains($0.key) }
        return state.mutations
            + untouched.sorted { $0.key < $1.key }.map { path, version in
                Mutation(
                    path: path, .verify,
                    precondition: version.map { .updateTime($0) } ?? .exists(false))
            }
    }
}
