import TidemarkModel

/// Decides if queries may run without further indexes, and explains their plans.
final class QueryAdmission {
    private var register: IndexRegister
    private let ticks: @Sendable () -> Duration

    init(_ settings: IndexSettings?, ticks: @escaping @Sendable () -> Duration) {
        register = IndexRegister(settings)
        self.ticks = ticks
    }

    /// Admits a query. Call it once per query, before the query runs.
    ///
    /// - Parameter query: A valid query.
    /// - Returns: The explanation; nil if none was requested.
    /// - Throws: A status with production's text, if the policy is strict and an index is missing.
    @discardableResult
    func admit(
        _ query: Query, _ aggregations: [Aggregation] = [], _ explain: ExplainOptions? = nil,
        in database: DatabaseID
    ) throws(RPCStatus) -> Explanation? {
        if register.settings == nil, explain == nil { return nil }
        let requirement = register.requirement(query, aggregations)
        do throws(RPCStatus) { try register.admit(query, requirement, in: database) } catch {
            throw explain?.analyze == false ? MissingIndex.notPlanned : error
        }
        // An index that is not enforced is explained as if it existed, because production would use
        // it.
        let uses = requirement.uses + requirement.missing.map(\.use)
        return explain.map { Explanation($0, uses, start: ticks()) }
    }

    /// Returns the plan of a query that has run, and the cost of the run.
    func metrics(_ explanation: Explanation, _ counters: Explanation.Counters) -> ExplainMetrics {
        explanation.metrics(counters, end: ticks())
    }

    /// The existing indexes; without settings, the automatic indexes.
    var configuration: IndexConfiguration { register.configuration }

    /// The declared indexes; nil if none are enforced.
    var declared: IndexConfiguration? { register.settings?.configuration }

    /// Returns a query's requirement of indexes.
    func requirement(_ query: Query, _ aggregations: [Aggregation]) -> IndexRequirement {
        register.requirement(query, aggregations)
    }

    /// Returns the names of the indexes that serve a query, and of those that it would need.
    func names(_ query: Query, _ aggregations: [Aggregation]) -> [String] {
        let requirement = requirement(query, aggregations)
        return requirement.uses.map { "\($0.queryScope) \($0.properties)" }
            + requirement.missing.map { "missing: \($0.sentence)" }
    }

    /// Returns the notices about indexes since the last call.
    func takeNotices() -> [IndexRegister.Notice] { register.takeNotices() }

    /// The indexes that queries have used and missed, the most wanted first.
    var report: IndexReport { register.report }

    /// A file of the missing indexes; nil if none is missing.
    var missingConfiguration: IndexConfiguration? { register.missingConfiguration }
}
