import Synchronization
package import TidemarkModel

/// The documents of a query's collection that changed since they were last requested, whatever
/// changed them: a write of the device, its acknowledgement, a listener, or another feed.
///
/// Used by code that keeps rows in memory and must show the disk's state. Costs a check of each
/// document that changes while it is active.
package final class CacheChanges: Sendable {
    /// The maximum number of recorded paths. With more, reading everything again is cheaper.
    package static let most = 500

    private struct State {
        var paths: Set<DocumentPath> = []
        var isOutgrown = false
    }

    let query: Query
    let isOwnOnly: Bool
    private let state = Mutex(State())
    private let onOwn = Mutex<(@Sendable () -> Void)?>(nil)

    /// - Parameters:
    ///   - query: A query of which only the collection matters.
    ///   - isOwnOnly: True to record only this device's writes and their results.
    package init(of query: Query, isOwnOnly: Bool = false) {
        self.query = query
        self.isOwnOnly = isOwnOnly
    }

    /// Calls `body` on the engine's executor each time that the device's own writes change
    /// documents of the collection: when they are journalled, acknowledged or rejected, and when
    /// another cache takes the place of this one. If a query compares a time that the server has
    /// yet to set, no listener reports such a row.
    package func onOwnChange(_ body: @escaping @Sendable () -> Void) {
        onOwn.withLock { $0 = body }
    }

    /// - Parameter isOwn: True if a write of this device, or its result, changed the documents.
    func note(_ changed: [LocalDocument], isOwn: Bool) {
        if isOwnOnly && !isOwn { return }
        let paths = changed.map(\.path).filter(query.contains)
        if paths.isEmpty { return }
        state.withLock { state in
            if state.isOutgrown { return }
            state.paths.formUnion(paths)
            guard state.paths.count > Self.most else { return }
            state.isOutgrown = true
            state.paths = []
        }
        if isOwn { onOwn.withLock(\.self)?() }
    }

    /// Records that another cache has taken the place of this one, so each document can differ.
    func noteExchange() {
        if !isOwnOnly { return }
        state.withLock { $0 = State(isOutgrown: true) }
        onOwn.withLock(\.self)?()
    }

    /// Returns the changes since the last call; nil if there were more than are recorded.
    func take() -> Set<DocumentPath>? {
        state.withLock { state in
            defer { state = State() }
            return state.isOutgrown ? nil : state.paths
        }
    }

    /// Returns changes that could not be read, for the next call.
    func putBack(_ paths: Set<DocumentPath>?) {
        state.withLock { state in
            guard let paths, !state.isOutgrown else { return state.isOutgrown = true }
            state.paths.formUnion(paths)
        }
    }
}
