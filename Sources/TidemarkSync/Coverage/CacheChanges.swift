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
    private let state = Mutex(State())

    /// - Parameter query: Of which only the collection counts.
    package init(of query: Query) { self.query = query }

    func note(_ changed: [LocalDocument]) {
        let paths = changed.lazy.map(\.path).filter(query.contains)
        state.withLock { state in
            if state.isOutgrown { return }
            state.paths.formUnion(paths)
            guard state.paths.count > Self.most else { return }
            state.isOutgrown = true
            state.paths = []
        }
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

extension EngineCore {
    /// How documents look: those asked for, those of a query with pending writes, and those that have
    /// changed. Nil where more has changed than is remembered.
    func cachedDocuments(
        at paths: [DocumentPath], andIn changes: CacheChanges, andWrittenIn query: Query
    ) -> Result<[DocumentPath: ViewDocument?]?, SyncError> {
        let changed = changes.take()
        guard let changed else { return .success(nil) }
        let all = Array(changed.union(paths))
        let result = fromCache { try $0.documents.documents(at: all, andWrittenIn: query) }
        if case .failure = result { changes.putBack(changed) }
        return result.map { $0 }
    }
}
