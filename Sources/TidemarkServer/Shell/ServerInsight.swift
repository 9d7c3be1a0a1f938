import Synchronization
package import TidemarkModel
import TidemarkStore

/// Internal data of a server for the console: the changes of its commits and the indexes of its
/// queries. Nothing here is billed.
package struct ServerInsight: Sendable {
    private let server: FirestoreServer

    package init(_ server: FirestoreServer) { self.server = server }

    /// Returns the range of times for which all versions are kept for at least another minute (or a
    /// tenth of the history if that is shorter), and the last commit; nil for a database without
    /// commits.
    package func history(of database: DatabaseID) -> (oldest: Timestamp, newest: Timestamp)? {
        server.core.withLock { core in
            guard let state = core.clocks.states[database], state.rowID != nil else { return nil }
            let margin = min(.seconds(60), core.configuration.history / 10)
            let kept = core.clocks.oldestKept.advanced(by: margin)
            return (
                max(Timestamp(microseconds: state.logStart), kept),
                Timestamp(microseconds: state.lastCommit)
            )
        }
    }

    /// Returns the times of the last commits, newest first.
    ///
    /// - Throws: An error if the store cannot be read.
    package func commitTimes(
        of database: DatabaseID, limit: Int
    ) throws(RPCStatus) -> [Timestamp] {
        try withLog(of: database) { log throws(StoreError) in try log.times(limit: limit) } ?? []
    }

    /// Returns the paths that commits after `start` and until `end` have changed, in the order of
    /// their first change.
    ///
    /// - Throws: An error if the store cannot be read.
    package func changedPaths(
        in database: DatabaseID, after start: Timestamp, upTo end: Timestamp, limit: Int
    ) throws(RPCStatus) -> [DocumentPath] {
        var seen: Set<DocumentPath> = []
        var result: [DocumentPath] = []
        var mark = ChangeLog.Mark(before: start.microseconds + 1)
        while result.count < limit {
            let from = mark
            let changes = try withLog(of: database) { log throws(StoreError) in
                try log.changes(after: from, upTo: end, limit: Self.slice)
            }
            for change in changes ?? [] where result.count < limit {
                let path = DocumentPath(unchecked: change.path)
                if seen.insert(path).inserted { result.append(path) }
            }
            guard let last = changes?.last, changes?.count == Self.slice else { break }
            mark = last
        }
        return result
    }

    /// The number of changes that are read before other calls are performed.
    private static let slice = 1_000

    /// Returns the times at which a document was changed, newest first.
    ///
    /// - Throws: An error if the store cannot be read.
    package func changeTimes(
        of path: DocumentPath, in database: DatabaseID, limit: Int
    ) throws(RPCStatus) -> [Timestamp] {
        var result: [Timestamp] = []
        var mark = ChangeLog.Mark(before: .max)
        while result.count < limit {
            let from = mark
            let changes = try withLog(of: database) { log throws(StoreError) in
                try log.changes(before: from, limit: Self.slice)
            }
            for change in changes ?? [] where change.path.hasSameBytes(as: path.text) {
                result.append(Timestamp(microseconds: change.time))
            }
            guard let last = changes?.last, changes?.count == Self.slice else { break }
            mark = last
        }
        return Array(result.prefix(limit))
    }

    private func withLog<T: Sendable>(
        of database: DatabaseID, _ body: @Sendable (ChangeLog) throws(StoreError) -> T
    ) throws(RPCStatus) -> T? {
        do {
            return try server.core.withLock { core throws in
                try core.store.read { transaction in
                    try core.clocks.latestScope(database, transaction).log.map {
                        log throws(StoreError) in try body(log)
                    }
                }
            }
        } catch { throw RPCStatus(storeFailure: error) }
    }

    /// Returns a query's requirement of indexes. If no indexes are declared, only automatic indexes
    /// count.
    package func indexRequirement(
        of query: Query, _ aggregations: [Aggregation], in database: DatabaseID
    ) -> IndexRequirement {
        server.core.withLock { $0.indexes.requirement(query, aggregations, in: database) }
    }

    /// The databases with indexes of their own, and before them the others.
    package var indexScopes: [DatabaseScope] { server.core.withLock { $0.indexes.scopes } }
}

extension ListDocumentsRequest {
    /// Continues after a document's id, in a list that includes missing documents.
    package mutating func start(after id: String) {
        let mark = ListAnswer.fingerprint(of: self)
        pageToken = PageToken(fingerprint: mark, values: [.string(id)]).text
    }
}
