import TidemarkModel
import TidemarkStore

/// The files of batches, for the outbox that uploads them. Each change is one transaction of the
/// cache, and a batch whose last object exists becomes ready to be sent in that transaction.
// @unchecked: used on the engine's executor only, like the engine.
final class FileDelivery: @unchecked Sendable {
    private let context: EngineContext
    private let storage: CacheStorage
    private let writing: WriteDelivery
    private var observers: [UInt64: @Sendable () -> Void] = [:]
    private var willNotify = false

    init(_ context: EngineContext, storage: CacheStorage, writing: WriteDelivery) {
        self.context = context
        self.storage = storage
        self.writing = writing
    }

    private var queue: LocalQueue { storage.local.queue }

    // MARK: Observers

    func observe(_ id: UInt64, _ observer: @escaping @Sendable () -> Void) {
        guard context.gate.isRunning else { return }
        observers[id] = observer
        observer()
    }

    func removeObserver(_ id: UInt64) { observers[id] = nil }
    func removeObservers() { observers = [:] }

    /// Informs the observers after this step, so several changes in one step cause one call.
    func changed() {
        guard !observers.isEmpty, !willNotify else { return }
        willNotify = true
        context.later { [self] in
            willNotify = false
            for id in observers.keys.sorted() { observers[id]?() }
        }
    }

    // MARK: Reading

    /// The files and the objects to delete of the present user. Costs a read of all rows.
    func contents() -> Result<QueuedFiles, SyncError> {
        read { QueuedFiles(files: try $0.all($1), removals: try $0.removals($1)) }
    }

    /// The files that the outbox can work on now, and the objects to delete.
    func contents(in window: FileWindow) -> Result<QueuedFiles, SyncError> {
        read { QueuedFiles(files: try $0.files(in: window, $1), removals: try $0.removals($1)) }
    }

    func newest(
        of document: DocumentPath, _ field: FieldPath
    ) -> Result<QueuedFile?, SyncError> {
        read { try $0.newest(of: document, field, $1) }
    }

    func file(_ id: Int64) -> Result<QueuedFile?, SyncError> { read { try $0.file(id, $1) } }

    private func read<Success>(
        _ body: (FileTable, StoreTransaction) throws -> Success
    ) -> Result<Success, SyncError> {
        if let refusal = context.gate.refusal { return .failure(refusal) }
        return Result { try queue.readFiles(body) }.mapError(SyncError.init(storing:))
    }

    // MARK: Changing

    /// Stores the state of an upload.
    ///
    /// - Parameter isSynced: False if a loss of power may restore the previous state.
    /// - Returns: False if the file no longer waits.
    func keep(_ upload: [UInt8], of file: Int64, isSynced: Bool) -> Result<Bool, SyncError> {
        change(isSynced ? .disk : .process) {
            try $0.change(file, from: [.waiting], to: .waiting, upload: upload, $1)
        }
    }

    /// Notes that the object of a file exists.
    func finish(_ file: Int64, _ upload: [UInt8]) -> Result<Bool, SyncError> {
        change { try $0.change(file, from: [.waiting], to: .uploaded, upload: upload, $1) }
    }

    /// Notes that a file's upload was refused for good.
    func fail(_ file: Int64, _ upload: [UInt8]) -> Result<Bool, SyncError> {
        change { try $0.change(file, from: [.waiting], to: .failed, upload: upload, $1) }
    }

    /// Allows another attempt for a failed upload.
    func retry(_ file: Int64, _ upload: [UInt8]) -> Result<Bool, SyncError> {
        let result = change {
            try $0.change(file, from: [.failed], to: .waiting, upload: upload, $1)
        }
        changed()
        return result
    }

    /// Removes the row of a file whose batch is done, after its copy was removed.
    func forget(_ file: Int64) -> Result<Void, SyncError> {
        change { try $0.remove(file, $1) }
    }

    func endRemoval(_ removal: Int64) -> Result<Void, SyncError> {
        change { try $0.endRemoval(removal, $1) }
    }

    /// Gives up the batch of a file that waits, and so its documents and its other files. A
    /// document that was sent first stays, and loses the field.
    ///
    /// - Returns: False if the batch does not wait for a file, or if the document is being sent
    ///   first.
    func discard(_ file: Int64) -> Result<Bool, SyncError> {
        if let refusal = context.gate.writeRefusal { return .failure(refusal) }
        do {
            guard let row = try queue.readFiles({ try $0.file(file, $1) }),
                queue.pending.isHeld(row.batch), row.state != .behindDocument
            else { return .success(false) }
            if row.file.completion != nil {
                let documents = try queue.giveUpFiles(of: row.batch)
                writing.heldChanged(dropped: nil, documents)
                changed()
                return .success(true)
            }
            let done = try queue.changeFiles(dropping: row.batch) {
                try $0.batchIsDiscarded(row.batch, $1)
            }
            let status = RPCStatus(.cancelled, "The write was discarded with its file.")
            writing.heldChanged(dropped: (row.batch, .server(status)), done.changed)
            changed()
            return .success(true)
        } catch { return .failure(SyncError(storing: error)) }
    }

    private func change<Success>(
        _ durability: DocumentStore.Durability = .disk,
        _ body: (FileTable, StoreTransaction) throws -> Success
    ) -> Result<Success, SyncError> {
        if let refusal = context.gate.writeRefusal { return .failure(refusal) }
        do {
            let done = try queue.changeFiles(durability, body)
            if done.isReleased { writing.heldChanged(dropped: nil, []) }
            return .success(done.result)
        } catch { return .failure(SyncError(storing: error)) }
    }
}

/// The files of a long queue that an outbox reads: all files without an upload to make, and the
/// oldest files with one.
package struct FileWindow: Hashable, Sendable {
    /// The size in bytes up to which a file is small.
    package var smallBytes: Int64
    /// The maximum number of small files, and of large ones.
    package var limit: Int
    /// The files whose uploads run. They are always in the window.
    package var running: [Int64]
    /// The rules that the present network breaks. A file with one of them has no place in the
    /// window, so it cannot keep a file out that may be sent.
    package var brokenRules: Int64

    package init(smallBytes: Int64, limit: Int, running: [Int64], brokenRules: Int64 = 0) {
        self.smallBytes = smallBytes
        self.limit = limit
        self.running = running
        self.brokenRules = brokenRules
    }
}

/// The files of one user, and the objects to delete, in one state of the cache.
package struct QueuedFiles: Hashable, Sendable {
    package var files: [QueuedFile]
    package var removals: [ObjectRemoval]
}
