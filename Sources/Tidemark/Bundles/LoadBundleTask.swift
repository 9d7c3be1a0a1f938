import Dispatch
import Synchronization

/// The progress of the load of a bundle.
public struct LoadBundleTaskProgress: Hashable, Sendable {
    public var documentsLoaded = 0
    /// The number that the bundle states, like ``totalBytes``.
    public var totalDocuments = 0
    public var bytesLoaded = 0
    public var totalBytes = 0
    public var state = LoadBundleTaskState.inProgress
}

public enum LoadBundleTaskState: Hashable, Sendable { case error, inProgress, success }

/// Identifies an observer of a ``LoadBundleTask``.
public typealias LoadBundleObserverHandle = Int

/// The load of a bundle into the cache. It continues if this object is released.
public final class LoadBundleTask: Sendable {
    private struct State {
        var observers: [LoadBundleObserverHandle: AppClosure<(LoadBundleTaskProgress) -> Void>] =
            [:]
        var nextHandle = 1
        var progress = LoadBundleTaskProgress()
    }

    private let state = Mutex(State())
    private let queue: DispatchQueue

    init(_ queue: DispatchQueue) { self.queue = queue }

    /// Calls `observer` on the listeners' queue when a part of the bundle is stored, and at the
    /// end. An observer that is added after the end is called with the final progress.
    @discardableResult
    public func addObserver(
        _ observer: @escaping (LoadBundleTaskProgress) -> Void
    ) -> LoadBundleObserverHandle {
        let observer = AppClosure(observer)
        let (handle, progress) = state.withLock { state in
            defer { state.nextHandle += 1 }
            state.observers[state.nextHandle] = observer
            return (state.nextHandle, state.progress)
        }
        if progress.state != .inProgress { notify(handle, progress) }
        return handle
    }

    public func removeObserverWith(handle: LoadBundleObserverHandle) {
        state.withLock { $0.observers[handle] = nil }
    }

    public func removeAllObservers() { state.withLock { $0.observers = [:] } }

    func report(_ progress: LoadBundleTaskProgress) {
        let handles = state.withLock { state in
            state.progress = progress
            return state.observers.keys.sorted()
        }
        for handle in handles { notify(handle, progress) }
    }

    private func notify(_ handle: LoadBundleObserverHandle, _ progress: LoadBundleTaskProgress) {
        queue.async { [self] in
            // The observer is looked up here, so an observer that was removed in the meantime is
            // not called.
            let observer = state.withLock { $0.observers[handle] }
            observer?.call(progress)
        }
    }
}
