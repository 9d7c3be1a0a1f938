import TidemarkModel
import TidemarkStore

/// What was worked out of the queries that were listened to last, and what the disk has of their targets:
/// an app asks the same ones again and again. Without it, a listen that finds one row took twice as long.
struct RecentQueries {
    /// By their hashes, in the type of a target's id: every other type that is a dictionary's key costs an
    /// app's start 0.1 ms.
    private var queries: [Int32: [RecentQuery]] = [:]
    private var targets: [QueryKey: KeptTarget?] = [:]

    /// Past this all are forgotten, and worked out again as they are asked.
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

    /// What the disk has of a query's target, or waits to get; the outer nil when that is not known.
    func target(_ key: QueryKey) -> KeptTarget?? { targets[key] }

    mutating func setTarget(_ target: KeptTarget?, _ key: QueryKey) {
        if targets.count >= Self.most { targets = [:] }
        targets.updateValue(target, forKey: key)
    }

    /// When a transaction was undone, or took targets out.
    mutating func forgetTargets() { targets = [:] }
}

/// What follows from a query, and how it is run.
final class RecentQuery {
    /// That of the shape, where looking at it copies nothing.
    let query: Query
    let shape: ViewShape
    let key: QueryKey
    /// Of the query in the server's form.
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
