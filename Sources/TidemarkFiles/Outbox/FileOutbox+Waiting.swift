import Foundation
public import Tidemark

// MARK: - What waits

extension FileOutbox {
    /// The files that are not done, in the order in which they were attached.
    ///
    /// Costs a read of the queue's rows.
    public func waitingFiles() async throws(FirestoreError) -> [WaitingFile] {
        list(try await contents(session))
    }

    /// The files that are not done, by their documents.
    public func waitingFilesByDocument()
        async throws(FirestoreError) -> [DocumentPath: [WaitingFile]]
    {
        Dictionary(grouping: try await waitingFiles(), by: \.document)
    }

    /// The list of ``waitingFiles()`` now and after each change, the newest only. It ends when the
    /// loop over it ends.
    public func updates() -> AsyncStream<[WaitingFile]> {
        let id = UUID()
        let (stream, watcher) = AsyncStream.makeStream(
            of: [WaitingFile].self, bufferingPolicy: .bufferingNewest(1))
        watchers[id] = watcher
        watcher.onTermination = { [weak self] _ in Task { await self?.forget(id) } }
        look()
        return stream
    }

    private func forget(_ id: UUID) { watchers[id] = nil }

    func notify(_ contents: QueuedFiles) {
        if watchers.isEmpty { return }
        let files = list(contents)
        for watcher in watchers.values { watcher.yield(files) }
    }

    private func list(_ contents: QueuedFiles) -> [WaitingFile] {
        let (running, broken) = (self.running, brokenRules)
        return contents.files.compactMap { file in
            let upload = FileCoding.upload(file.upload)
            let state: WaitingFile.State
            switch file.state {
            case .waiting:
                let rules = file.networkRules.intersection(broken)
                if !rules.isEmpty {
                    state = .waitingForNetwork(rules)
                } else {
                    state = running.contains(file.id) ? .uploading : .waiting
                }
            case .uploaded: state = .uploaded
            case .failed: state = .failed(upload.problem ?? .copyMissing)
            case .rejected: state = .documentRefused
            case .behindDocument: state = .waitingForDocument
            case .over: return nil
            }
            let sent = max(upload.record.furthest, progress[file.id] ?? 0)
            return WaitingFile(
                id: file.id, document: file.file.document, field: file.file.field,
                batch: file.batch, objectName: file.file.object.name, size: file.file.size,
                sent: file.state == .uploaded ? file.file.size : sent, state: state)
        }
    }

    /// Allows another attempt for a file whose upload was refused.
    ///
    /// - Throws: `notFound` if the file is not in ``WaitingFile/State/failed(_:)``.
    public func retry(_ file: Int64) async throws(FirestoreError) {
        let session = self.session
        let row = try await contents(session).files.first { $0.id == file }
        guard let row, row.state == .failed else { throw Self.noFailedFile(file) }
        var record = FileCoding.upload(row.upload).record
        record.beginAgain()
        let bytes = FileCoding.encode(UploadState(record: record))
        let isDone: Bool = try await answer {
            session.retryFile(file, bytes, completion: $0)
        }
        if !isDone { throw Self.noFailedFile(file) }
    }

    /// Gives up a file, and with it the whole batch that waits for it: its other files and its
    /// documents. Objects that exist already are deleted. The caller who waits for the batch
    /// receives `cancelled`. A document that was sent before its files stays, without their
    /// fields.
    ///
    /// - Throws: `notFound` if no batch waits for the file, and `failedPrecondition` while the
    ///   document of a file that follows it is not acknowledged.
    public func discard(_ file: Int64) async throws(FirestoreError) {
        let session = self.session
        let row = try await contents(session).files.first { $0.id == file }
        if row?.state == .behindDocument {
            throw FirestoreError(
                .failedPrecondition,
                "The document of the file \(file) is being sent. Discard the file after it.")
        }
        let isDone: Bool = try await answer { session.discardFile(file, completion: $0) }
        if !isDone {
            throw FirestoreError(.notFound, "No batch waits for a file with the number \(file).")
        }
    }

    /// Deletes the copies of the signed-in user that belong to no batch, because the cache was
    /// reset. Nothing else deletes them: they can be the last copies of a user's files.
    ///
    /// - Returns: The number of deleted copies.
    @discardableResult
    public func purgeUnknownCopies() async throws(FirestoreError) -> Int {
        let session = self.session
        let folder = self.folder(of: session)
        let names = await DiskThread.run { folder.names() }
        let contents = try await self.contents(session)
        let rows = Set(contents.files.compactMap { facts($0)?.copy }).union(staging)
        return await DiskThread.run {
            let unknown = folder.sweep(names, rows: rows)
            for name in unknown { folder.remove(name) }
            return unknown.count
        }
    }

    /// Deletes the copies of a user who is not signed in, for example because the account was
    /// deleted. Writes of that user that wait for files can then only be discarded.
    ///
    /// - Throws: `failedPrecondition` for the signed-in user.
    public func purgeCopies(ofUser user: String) async throws(FirestoreError) {
        let bytes = Array(user.utf8)
        if bytes == session.user {
            throw FirestoreError(
                .failedPrecondition, "The files of the signed-in user are in use.")
        }
        let folder = FileFolder(base: base, user: bytes)
        await DiskThread.run { folder.erase() }
    }

    private static func noFailedFile(_ file: Int64) -> FirestoreError {
        FirestoreError(.notFound, "No file with the number \(file) was refused.")
    }
}

// MARK: - A session of the system

extension FileOutbox {
    /// Takes the system's call that it has launched or resumed the app for a background session.
    /// Call it after ``start()``, from
    /// `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    ///
    /// - Parameters:
    ///   - identifier: The session's identifier.
    ///   - completion: The system's completion handler. It is called on the main queue when the
    ///     next part of a file was handed to the system, or after 10 s.
    /// - Returns: False if the session is not this outbox's. The completion is then not called.
    @discardableResult
    public nonisolated func handleEvents(
        ofBackgroundSession identifier: String, completion: @escaping @Sendable () -> Void
    ) -> Bool {
        guard let background, background.identifier == identifier else { return false }
        background.handleEvents(completion)
        return true
    }

    /// True if a chunk of an earlier process is still being sent to the file's session.
    func isHeld(_ file: Int64, _ session: UserSession) -> Bool {
        background?.holds(file, of: session.user) ?? false
    }

    /// Cancels the chunks of earlier processes that belong to no upload any longer.
    func compareChunks(_ session: UserSession) async {
        guard let background else { return }
        for id in background.found(of: session.user) {
            let row: QueuedFile?
            // A row that cannot be read now decides nothing.
            do { row = try await answer { session.file(id, completion: $0) } } catch { continue }
            let record = row.flatMap { row in
                row.state == .waiting ? FileCoding.upload(row.upload).record : nil
            }
            background.compare(id, of: session.user, address: record?.session?.address)
        }
    }
}
