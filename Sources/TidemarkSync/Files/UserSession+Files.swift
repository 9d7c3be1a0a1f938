package import TidemarkModel

// The files of batches. The calls concern the user's queue, so after a change of user each fails
// with ``SyncError/userChanged``, and nothing of one user's upload is stored for another.
extension UserSession {
    /// Journals mutations with their files. The batch, and every later batch that writes one of its
    /// documents, is sent when the objects of the files exist.
    package func write(
        _ mutations: [Mutation], attaching attached: AttachedFiles,
        observer: @escaping @Sendable (SyncEngine.WriteEvent) -> Void
    ) {
        let refused: @Sendable (Result<Void, SyncError>) -> Void = { result in
            if case .failure(let error) = result { observer(.failed(error)) }
        }
        perform(refused, isOfQueue: true) { core in
            core.parts.writing.write(mutations, attaching: attached, observer)
        }
    }

    /// Returns all files of the user. Costs a read of all rows.
    package func files(
        completion: @escaping @Sendable (Result<QueuedFiles, SyncError>) -> Void
    ) {
        onFiles(completion) { $0.contents() }
    }

    /// Returns the files that the outbox can work on now. A long queue is not read for each step.
    package func filesToSend(
        _ window: FileWindow,
        completion: @escaping @Sendable (Result<QueuedFiles, SyncError>) -> Void
    ) {
        onFiles(completion) { $0.contents(in: window) }
    }

    /// Returns the newest file of a document's field that the cache knows; nil if there is none.
    package func file(
        of document: DocumentPath, _ field: FieldPath,
        completion: @escaping @Sendable (Result<QueuedFile?, SyncError>) -> Void
    ) {
        onFiles(completion) { $0.newest(of: document, field) }
    }

    /// Returns a file by its number; nil if there is none.
    package func file(
        _ id: Int64, completion: @escaping @Sendable (Result<QueuedFile?, SyncError>) -> Void
    ) {
        onFiles(completion) { $0.file(id) }
    }

    /// Stores the state of an upload. `completion` receives false if the file no longer
    /// waits. The same applies to the functions below.
    package func keepUpload(
        _ upload: [UInt8], of file: Int64, isSynced: Bool,
        completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        onFiles(completion) { $0.keep(upload, of: file, isSynced: isSynced) }
    }

    package func finishFile(
        _ file: Int64, _ upload: [UInt8],
        completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        onFiles(completion) { $0.finish(file, upload) }
    }

    package func failFile(
        _ file: Int64, _ upload: [UInt8],
        completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        onFiles(completion) { $0.fail(file, upload) }
    }

    package func retryFile(
        _ file: Int64, _ upload: [UInt8],
        completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        onFiles(completion) { $0.retry(file, upload) }
    }

    /// Gives up the batch of a file, and so its documents and its other files. Its observer
    /// receives `cancelled`.
    package func discardFile(
        _ file: Int64, completion: @escaping @Sendable (Result<Bool, SyncError>) -> Void
    ) {
        onFiles(completion) { $0.discard(file) }
    }

    package func forgetFile(
        _ file: Int64, completion: @escaping @Sendable (Result<Void, SyncError>) -> Void
    ) {
        onFiles(completion) { $0.forget(file) }
    }

    package func endRemoval(
        _ removal: Int64, completion: @escaping @Sendable (Result<Void, SyncError>) -> Void
    ) {
        onFiles(completion) { $0.endRemoval(removal) }
    }

    private func onFiles<Success: Sendable>(
        _ completion: @escaping @Sendable (Result<Success, SyncError>) -> Void,
        _ body: @escaping @Sendable (FileDelivery) -> Result<Success, SyncError>
    ) {
        perform(completion, isOfQueue: true) { core in completion(body(core.parts.files)) }
    }
}
