import TidemarkModel

/// Lets queries run, as far as indexes are concerned, and says how they are planned.
final class QueryAdmission {
    private var register: IndexRegister
    private let ticks: @Sendable () -> Duration

    init(_ settings: IndexSettings?, ticks: @escaping @Sendable () -> Duration) {
        register = IndexRegister(settings)
        self.ticks = ticks
    }

    /// Lets a query run. To be asked once a query, before it runs.
    ///
    /// - Parameter query: A valid one.
    /// - Returns: Nil when nothing is to be explained.
    /// - Throws: With production's text, where the policy is strict and an index is missing.
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
        // What is not enforced is explained as if it were there: that is what production would use.
        let uses = requirement.uses + requirement.missing.map(\.use)
        return explain.map { Explanation($0, uses, start: ticks()) }
    }

    /// The plan of a query that has run, and what that took.
    func metrics(_ explanation: Explanation, _ counters: Explanation.Counters) -> ExplainMetrics {
        explanation.metrics(counters, end: ticks())
    }

    /// The indexes there are; without settings the automatic ones.
    var configuration: IndexConfiguration { register.configuration }

    /// Those that are declared; nil where none are enforced.
    var declared: IndexConfiguration? { register.settings?.configuration }

    /// What a query needs, of the indexes there are.
    func requirement(_ query: Query, _ aggregations: [Aggregation]) -> IndexRequirement {
        register.requirement(query, aggregations)
    }

    /// What is to be told of indexes since the last time.
    func takeNotices() -> [IndexRegister.Notice] { register.takeNotices() }

    /// Which indexes queries have used and missed, most wanted first.
    var report: IndexReport { register.report }

    /// A file of the indexes that are missing; nil where none is.
    var missingConfiguration: IndexConfiguration? { register.missingConfiguration }
}
