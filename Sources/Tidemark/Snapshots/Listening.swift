import Synchronization

/// The source of a read: `.default` asks the server, and the cache if the server does not answer.
public typealias FirestoreSource = ReadSource

/// The source of a listener. `.cache` never asks the server and costs no reads.
public enum ListenSource: Hashable, Sendable { case `default`, cache }

/// The options of a listener.
public struct SnapshotListenOptions: Hashable, Sendable {
    /// True if a change of the metadata alone creates a snapshot.
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

/// A listener, which continues until it is removed. It does not end when this object is released.
public protocol ListenerRegistration: Sendable {
    /// Ends the listener. A call that has begun on another thread may still finish.
    func remove()
}

/// A listener or an observer of the engine, which receives nothing after its removal.
final class Registration: ListenerRegistration {
    private struct State {
        var isRemoved = false
        var handle: (any CancellableCall)?
    }

    private let state = Mutex(State())

    init() {}

    /// - Parameter start: Starts the observation. Its parameter returns true after the observer was
    ///   removed.
    init(_ start: (@escaping @Sendable () -> Bool) -> any CancellableCall) {
        attach(start { [self] in isRemoved })
    }

    var isRemoved: Bool { state.withLock(\.isRemoved) }

    /// Keeps the engine's handle, or cancels it if the listener was removed before the handle
    /// arrived.
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
