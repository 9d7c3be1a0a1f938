import Dispatch
import Synchronization

/// Several writes that are applied together or not at all, offline too. Commit it once.
public final class WriteBatch: Sendable {
    private struct Contents {
        var mutations: [Mutation] = []
        var files: [FileAttachment] = []
        /// The fields of deleted documents whose objects are deleted too.
        var deleted: [DeletedFile] = []
    }

    private enum State {
        case open(Contents)
        /// The error of an invalid write, which the commit throws.
        case invalid(FirestoreError)
        case committed
    }

    /// The maximum number of writes, which is Firestore's limit.
    public static let maxWrites = 500

    package let firestore: Firestore
    private let state = Mutex(State.open(Contents()))

    init(_ firestore: Firestore) { self.firestore = firestore }

    /// Replaces the document or, with `merge`, writes the given fields.
    @discardableResult
    public func setData(
        _ data: [String: Any], forDocument document: DocumentReference, merge: Bool = false
    ) -> WriteBatch {
        add(document) { (path, files) throws(FirestoreError) in
            merge
                ? try WriteTranslation.merge(path, data, files: files)
                : try WriteTranslation.set(path, data, files: files)
        }
    }

    /// Writes only the listed fields, each of which must be in the data.
    @discardableResult
    public func setData(
        _ data: [String: Any], forDocument document: DocumentReference,
        mergeFields: [Any]
    ) -> WriteBatch {
        add(document) { (path, _) throws(FirestoreError) in
            try WriteTranslation.merge(path, data, fields: mergeFields)
        }
    }

    /// Changes fields of a document that must exist, or the whole batch fails with `notFound`.
    @discardableResult
    public func updateData(
        _ fields: [AnyHashable: Any], forDocument document: DocumentReference
    ) -> WriteBatch {
        add(document) { (path, files) throws(FirestoreError) in
            try WriteTranslation.update(path, try WriteTranslation.named(fields), files: files)
        }
    }

    @discardableResult
    public func deleteDocument(_ document: DocumentReference) -> WriteBatch {
        add(document) { (path, _) throws(FirestoreError) in Mutation(path: path, .delete) }
    }

    /// Returns when the server has applied all writes. A cancelled task stops waiting; the writes
    /// stay in the queue.
    ///
    /// - Throws: The server's error, or `invalidArgument` for an invalid write, for more than
    ///   ``maxWrites`` writes, or for a second commit: then nothing was queued.
    public func commit() async throws(FirestoreError) {
        // An empty batch has no effect, so it is not sent.
        try await enqueue()?.acknowledged()
    }

    /// Commits like ``commit()``, but returns when the writes are durable on this device; nil for
    /// an empty batch.
    public func enqueue() async throws(FirestoreError) -> WriteReceipt? {
        let contents = try take()
        if contents.mutations.isEmpty, contents.files.isEmpty { return nil }
        return try await firestore.enqueue(
            contents.mutations, contents.files, deleting: contents.deleted)
    }

    /// Commits like the `async` form, but does not wait: the writes are queued before the call
    /// returns. `completion` is called on the listeners' queue.
    public func commit(completion: (((any Error)?) -> Void)? = nil) {
        let mutations = Result { () throws(FirestoreError) in try takeWithoutFiles() }
        guard case .success(let writes) = mutations, writes.isEmpty else {
            return firestore.commit(mutations, completion)
        }
        let completion = AppClosure(completion)
        firestore.callbackQueue.async { completion.call?(nil) }
    }

    /// Attaches a file to a field of a document. The file is staged at the commit.
    package func attach(
        file: any FileValue, to document: DocumentReference, field: any FieldName
    ) {
        let attachment = Result { () throws(FirestoreError) in
            guard document.firestore === firestore else {
                throw .invalidArgument("\(document.path) belongs to another Firestore.")
            }
            return FileAttachment(
                document: try document.documentPath(), field: try field.resolved(), file: file)
        }
        state.withLock { state in
            guard case .open(var contents) = state else { return }
            switch attachment {
            case .success(let file):
                contents.files.append(file)
                state = .open(contents)
            case .failure(let error): state = .invalid(error)
            }
        }
    }

    /// Deletes a document. When that is acknowledged, the objects of its fields are deleted too.
    package func delete(
        _ document: DocumentReference, files fields: [any FieldName],
        bucket: Result<String, FirestoreError>
    ) {
        let deleted = Result { () throws(FirestoreError) in
            let (path, name) = (try document.documentPath(), try bucket.get())
            var deleted: [DeletedFile] = []
            for field in fields {
                deleted.append(
                    DeletedFile(document: path, field: try field.resolved(), bucket: name))
            }
            return deleted
        }
        _ = deleteDocument(document)
        state.withLock { state in
            guard case .open(var contents) = state else { return }
            switch deleted {
            case .success(let files):
                contents.deleted += files
                state = .open(contents)
            case .failure(let error): state = .invalid(error)
            }
        }
    }

    private func add(
        _ document: DocumentReference,
        _ translate: (DocumentPath, FieldFiles) throws(FirestoreError) -> Mutation
    ) -> WriteBatch {
        let found = FieldFiles()
        let mutation = Result { () throws(FirestoreError) in
            guard document.firestore === firestore else {
                throw .invalidArgument("\(document.path) belongs to another Firestore.")
            }
            return try translate(try document.documentPath(), found)
        }
        let added = (try? mutation.get()).map { found.attachments(to: $0.path) } ?? []
        state.withLock { state in
            switch (state, mutation) {
            case (.open(var contents), .success(let mutation)):
                guard contents.mutations.count < Self.maxWrites else {
                    state = .invalid(
                        .invalidArgument(
                            """
                            A batch can have at most \(Self.maxWrites) writes.
                            """))
                    return
                }
                contents.mutations.append(mutation)
                contents.files += added
                state = .open(contents)
            case (.open, .failure(let error)): state = .invalid(error)
            case (.invalid, _), (.committed, _): break
            }
        }
        return self
    }

    private func takeWithoutFiles() throws(FirestoreError) -> [Mutation] {
        let contents = try take()
        if contents.files.isEmpty, contents.deleted.isEmpty { return contents.mutations }
        throw .invalidArgument("A batch with files needs the async form of commit or enqueue.")
    }

    private func take() throws(FirestoreError) -> Contents {
        let taken = state.withLock { state in
            defer { state = .committed }
            return state
        }
        switch taken {
        case .open(let contents): return contents
        case .invalid(let error): throw error
        case .committed:
            throw FirestoreError(.failedPrecondition, "The batch was already committed.")
        }
    }
}
