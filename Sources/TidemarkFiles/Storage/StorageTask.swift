import Dispatch
public import Foundation
import Synchronization

/// The states of a task, with the numbers of FirebaseStorage.
public enum StorageTaskStatus: Int, Hashable, Sendable {
    case unknown, resume, progress, pause, success, failure
}

/// The state of a task at one moment.
public struct StorageTaskSnapshot: Sendable {
    public let task: StorageTask
    public let reference: StorageReference
    public let status: StorageTaskStatus
    /// The object's facts, after an upload has succeeded.
    public let metadata: StorageMetadata?
    /// The error of a failed task: a ``StorageError``.
    public let error: (any Error)?
    /// The numbers of bytes. The total is 0 while it is not known.
    public let progress: Progress?
}

/// An upload or a download that runs until it ends, with observers as FirebaseStorage has them.
///
/// Handlers are called on the main queue.
public class StorageTask: @unchecked Sendable {
    // @unchecked: all state is in the mutex; subclasses add constants only.
    typealias Handler = MainClosure<(StorageTaskSnapshot) -> Void>

    private struct State {
        var observers = TaskObservers<Handler>()
        var sent: Int64 = 0
        var total: Int64 = 0
        var metadata: StorageMetadata?
        var error: StorageError?
        var work: Task<Void, Never>?
        var isPaused = false
    }

    let reference: StorageReference
    private let state = Mutex(State())

    init(_ reference: StorageReference) { self.reference = reference }

    /// The present state.
    public var snapshot: StorageTaskSnapshot { state.withLock { snapshot(of: $0) } }

    private func snapshot(of state: State) -> StorageTaskSnapshot {
        let progress = Progress(totalUnitCount: state.total)
        progress.completedUnitCount = state.sent
        return StorageTaskSnapshot(
            task: self, reference: reference, status: state.observers.status,
            metadata: state.metadata, error: state.error, progress: progress)
    }

    // MARK: Observers

    /// Calls the handler at each change to a state, and now if the task has that state already.
    ///
    /// - Returns: The handle for ``removeObserver(withHandle:)``.
    @discardableResult
    public func observe(
        _ status: StorageTaskStatus, handler: @escaping (StorageTaskSnapshot) -> Void
    ) -> String {
        let handler = MainClosure(call: handler)
        let (handle, due) = state.withLock { state -> (Int, StorageTaskSnapshot?) in
            let added = state.observers.add(for: status, handler)
            return (added.handle, added.isDue ? snapshot(of: state) : nil)
        }
        if let due { DispatchQueue.main.async { handler.call(due) } }
        return "\(handle)"
    }

    public func removeObserver(withHandle handle: String) {
        guard let number = Int(handle) else { return }
        state.withLock { $0.observers.remove(number) }
    }

    public func removeAllObservers() { state.withLock { $0.observers.removeAll() } }

    public func removeAllObservers(for status: StorageTaskStatus) {
        state.withLock { $0.observers.removeAll(for: status) }
    }

    private func change(to status: StorageTaskStatus, _ body: (inout State) -> Void = { _ in }) {
        let (handlers, now) = state.withLock { state -> ([Handler], StorageTaskSnapshot) in
            // The last request of a paused task can still report bytes.
            let isLate = status == .progress && state.isPaused
            if state.observers.isOver || isLate { return ([], snapshot(of: state)) }
            body(&state)
            let handlers = state.observers.change(to: status)
            return (handlers, snapshot(of: state))
        }
        if handlers.isEmpty { return }
        DispatchQueue.main.async { for handler in handlers { handler.call(now) } }
    }

    // MARK: Life

    /// Performs the task. A subclass returns when the task is done, or throws.
    func perform() async throws(StorageError) -> StorageMetadata? { nil }

    /// Begins the task, or continues it after ``pause()``.
    func begin() {
        state.withLock { state in
            if state.observers.isOver || state.work != nil { return }
            state.isPaused = false
            state.work = Task { await self.run() }
        }
    }

    private func run() async {
        let result: Result<StorageMetadata?, StorageError>
        do throws(StorageError) { result = .success(try await perform()) } catch {
            result = .failure(error)
        }
        let isPaused = state.withLock { state in
            state.work = nil
            return state.isPaused
        }
        switch result {
        case .success(let metadata): change(to: .success) { $0.metadata = metadata }
        case .failure(.cancelled) where isPaused: break
        case .failure(let error): change(to: .failure) { $0.error = error }
        }
    }

    func progressed(_ sent: Int64, of total: Int64) {
        change(to: .progress) { ($0.sent, $0.total) = (max($0.sent, sent), total) }
    }

    /// Ends the task. Its observers of ``StorageTaskStatus/failure`` receive
    /// ``StorageError/cancelled``.
    public func cancel() {
        let work = state.withLock { state in
            state.isPaused = false
            return state.work
        }
        change(to: .failure) { $0.error = .cancelled }
        work?.cancel()
    }

    func pauseWork() {
        let work = state.withLock { state in
            if state.observers.isOver || state.isPaused { return nil as Task<Void, Never>? }
            state.isPaused = true
            return state.work
        }
        guard let work else { return }
        work.cancel()
        change(to: .pause)
    }

    func resumeWork() {
        let work = state.withLock { state in state.isPaused ? state.work : nil }
        guard state.withLock({ $0.isPaused }) else { return }
        change(to: .resume)
        Task {
            await work?.value
            self.begin()
        }
    }
}

/// An upload that `putData` or `putFile` has started. The upload ends with the process;
/// ``FileOutbox`` sends files through kills.
public final class StorageUploadTask: StorageTask, @unchecked Sendable {
    // @unchecked: as the superclass.
    private let upload: Mutex<DirectUpload?>
    private let prepare: @Sendable () async throws(StorageError) -> DirectUpload

    init(
        _ reference: StorageReference,
        _ prepare: @escaping @Sendable () async throws(StorageError) -> DirectUpload
    ) {
        self.prepare = prepare
        upload = Mutex(nil)
        super.init(reference)
    }

    override func perform() async throws(StorageError) -> StorageMetadata? {
        var upload: DirectUpload
        if let known = self.upload.withLock({ $0 }) {
            upload = known
        } else {
            upload = try await prepare()
            let first = upload
            self.upload.withLock { $0 = first }
        }
        let total = upload.target.size
        upload.onProgress = { [weak self] in self?.progressed($0, of: total) }
        try await upload.run()
        return try await reference.getMetadata()
    }

    public func enqueue() { begin() }

    /// Ends the upload, and its session in Storage. The observers of
    /// ``StorageTaskStatus/failure`` receive ``StorageError/cancelled``.
    public override func cancel() {
        super.cancel()
        upload.withLock { $0 }?.abandon()
    }

    /// Ends the present request. ``resume()`` continues behind the bytes that Storage has.
    public func pause() { pauseWork() }
    public func resume() { resumeWork() }
}

/// A download that `getData` or `write` has started.
public final class StorageDownloadTask: StorageTask, @unchecked Sendable {
    // @unchecked: as the superclass.
    private let body: @Sendable (StorageDownloadTask) async throws(StorageError) -> Void

    init(
        _ reference: StorageReference,
        _ body: @escaping @Sendable (StorageDownloadTask) async throws(StorageError) -> Void
    ) {
        self.body = body
        super.init(reference)
    }

    override func perform() async throws(StorageError) -> StorageMetadata? {
        try await body(self)
        return nil
    }
}

/// A closure of the app, on its way to the main queue, where it is called once.
///
/// The closure is safe to send: only jobs of the main queue call it, and they run in sequence.
struct MainClosure<Function>: @unchecked Sendable {
    let call: Function
}
