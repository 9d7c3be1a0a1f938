import Dispatch
import Synchronization

/// Where a read may look: `.default` asks the server, and the cache when it does not answer.
public typealias FirestoreSource = ReadSource

/// What a listener listens to. `.cache` never asks the server and costs no reads.
public enum ListenSource: Hashable, Sendable { case `default`, cache }

/// How a listener listens.
public struct SnapshotListenOptions: Hashable, Sendable {
    /// Whether a change of the metadata alone makes a snapshot.
    public let includeMetadataChanges: Bool
    public let source: ListenSource

    public init(includeMetadataChanges: Bool = false, source: ListenSource = .default) {
        self.includeMetadataChanges = includeMetadataChanges
        self.source = source
    }

    public func withIncludeMetadataChanges(
        _ includeMetadataChanges: Bool
    ) -> SnapshotListenOptions {
        SnapshotListenOptions(includeMetadataChanges: includeMetadataChanges, source: source)
    }

    public func withSource(_ source: ListenSource) -> SnapshotListenOptions {
        SnapshotListenOptions(includeMetadataChanges: includeMetadataChanges, source: source)
    }
}

/// A listener, which goes on until it is removed. Releasing this object does not end it.
public protocol ListenerRegistration: Sendable {
    /// Ends the listener. A call that has begun on another thread may still finish.
    func remove()
}

/// A listener or an observer of the engine, told nothing more once it is removed.
final class Observation: ListenerRegistration {
    private struct State {
        var isRemoved = false
        var handle: (any CancellableCall)?
    }

    private let state = Mutex(State())

    init() {}

    /// - Parameter start: Gets what tells whether the observer was removed meanwhile.
    init(_ start: (@escaping @Sendable () -> Bool) -> any CancellableCall) {
        attach(start { [self] in isRemoved })
    }

    var isRemoved: Bool { state.withLock(\.isRemoved) }

    /// Keeps the engine's handle, or cancels it when the listener was removed before it came.
    func attach(_ handle: any CancellableCall) {
        let isLate = state.withLock { state in
            if !state.isRemoved { state.handle = handle }
            return state.isRemoved
        }
        if isLate { handle.cancel() }
    }

    func remove() {
        let handle = state.withLock { state in
            state.isRemoved = true
            return state.handle.take()
        }
        handle?.cancel()
    }
}

extension Firestore {
    /// - Parameter queue: Where `observer` is called; nil for the engine's own executor, which it
    ///   must not keep.
    func listen(
        _ query: Result<QueryValue, FirestoreError>, _ options: SnapshotListenOptions,
        _ tag: ReadTag, on queue: DispatchQueue?,
        observer: @escaping @Sendable (Result<ViewSnapshot, FirestoreError>) -> Void
    ) -> any ListenerRegistration {
        let listener = Observation()
        let tell: @Sendable (Result<ViewSnapshot, FirestoreError>) -> Void = { result in
            guard let queue else { return observer(result) }
            queue.async { if !listener.isRemoved { observer(result) } }
        }
        switch query {
        case .failure(let error): tell(.failure(error))
        case .success(let query):
            let engineOptions = SyncEngine.ListenOptions(
                includeMetadataChanges: options.includeMetadataChanges,
                source: options.source == .cache ? .cache : .default, tag: tag.inScope)
            listener.attach(
                engine.listen(query, engineOptions) { tell($0.mapError(FirestoreError.init)) })
        }
        return listener
    }

    /// Runs a read for a caller that passed a closure.
    func callBack<Success: Sendable>(
        _ completion: @escaping @Sendable (Success?, (any Error)?) -> Void,
        _ body: @escaping @Sendable () async throws(FirestoreError) -> Success
    ) {
        let queue = callbackQueue
        Task {
            do throws(FirestoreError) {
                let success = try await body()
                queue.async { completion(success, nil) }
            } catch { queue.async { completion(nil, error) } }
        }
    }
}
