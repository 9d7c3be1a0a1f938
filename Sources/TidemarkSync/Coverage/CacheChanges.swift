import Synchronization
package import TidemarkModel

/// Which documents of a query's collection look different than when they were last asked for, whoever
/// brought it: a write of the device itself, the answer to it, a listener, another feed.
///
/// For whoever keeps rows in memory and has to show what the disk has. Costs a look at each document
/// that changes while it is followed.
package final class CacheChanges: Sendable {
    /// Paths that are remembered. With more it is cheaper to read everything again.
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
    ///   - query: Of which only the collection counts.
    ///   - isOwnOnly: Whether only what this device writes is noted, and what becomes of it.
    package init(of query: Query, isOwnOnly: Bool = false) {
        self.query = query
        self.isOwnOnly = isOwnOnly
    }

    /// Calls `body` on the engine's executor each time that the device's own writes change documents
    /// of the collection: when they are journalled, acknowledged or refused. No listener tells of a
    /// row whose time is still the server's to set when its query compares that time.
    package func onOwnChange(_ body: @escaping @Sendable () -> Void) {
        onOwn.withLock { $0 = body }
    }

    /// - Parameter isOwn: Whether a write of this device changed them, or what became of it.
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

    /// All since the last time; nil when there were more than are remembered.
    func take() -> Set<DocumentPath>? {
        state.withLock { state in
            defer { state = State() }
            return state.isOutgrown ? nil : state.paths
        }
    }

    /// They could not be read: the next one who asks gets them too.
    func putBack(_ paths: Set<DocumentPath>?) {
        state.withLock { state in
            guard let paths, !state.isOutgrown else { return state.isOutgrown = true }
            state.paths.formUnion(paths)
        }
    }
}
