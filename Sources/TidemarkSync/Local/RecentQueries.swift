import TidemarkModel
import TidemarkStore

/// The derived facts about the last listened queries, and the disk's state of their targets. An app
/// asks the same queries many times. Without this table, a listen that finds one row took twice as
/// long.
struct RecentQueries {
    /// The queries by their hashes. The hash has the type of a target's id: every other type of a
    /// dictionary's key costs 0.1 ms of an app's start.
    private var queries: [Int32: [RecentQuery]] = [:]
    private var targets: [QueryKey: KeptTarget?] = [:]

    /// The maximum number of queries. Beyond it, all are forgotten and computed again on demand.
    private static let most = 200

    mutating func query(_ query: Query, in database: DatabaseID) -> RecentQuery {
        let hash = Int32(truncatingIfNeeded: query.hashValue)
        if let known = queries[hash]?.first(where: { $0.query == query }) {
            return known
        }
        if queries.count >= Self.most { queries = [:] }
        let new = RecentQuery(query, in: database)
        queries[hash, default: []].append(new)
        return new
    }

    /// Returns the state of a query's target on disk, or the state that waits for a write; the
    /// outer nil means unknown.
    func target(_ key: QueryKey) -> KeptTarget?? { targets[key] }

    mutating func setTarget(_ target: KeptTarget?, _ key: QueryKey) {
        if targets.count >= Self.most { targets = [:] }
        targets.updateValue(target, forKey: key)
    }

    /// Forgets the targets after a transaction was undone or removed targets.
    mutating func forgetTargets() { targets = [:] }
}

/// The facts that follow from a query, and the plan to run it.
final class RecentQuery {
    /// The query of the shape. Access to it copies nothing.
    let query: Query
    let shape: ViewShape
    let key: QueryKey
    /// The key of the query in the server's form.
    let targetKey: QueryKey
    let plan = KeptPlan()

    init(_ query: Query, in database: DatabaseID) {
        self.query = query
        shape = ViewShape(query, in: database)
        key = QueryKey(query)
        if case .last? = query.limit {
            targetKey = QueryKey(query.wireForm)
        } else {
            targetKey = key
        }
    }
}
