import TidemarkModel

/// Decides if queries may run without further indexes, and explains their plans.
final class QueryAdmission {
    private var registers: ByDatabase<IndexRegister>
    private var scans = ScanRegister()
    private let editions: DatabaseEditions
    private let ticks: @Sendable () -> Duration

    init(
        _ settings: IndexSettings?, editions: DatabaseEditions = DatabaseEditions(),
        ticks: @escaping @Sendable () -> Duration
    ) {
        registers = ByDatabase(IndexRegister(settings))
        self.editions = editions
        self.ticks = ticks
    }

    /// Returns true if a database is billed by units.
    func isBilledByUnits(_ database: DatabaseID) -> Bool {
        editions.edition(of: database).isBilledByUnits
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
        if registers[database.database].settings == nil, explain == nil { return nil }
        let requirement = requirement(query, aggregations, in: database)
        if !editions.edition(of: database).demandsIndexes {
            // A query without an index scans, and its explanation names no index.
            registers.update(database.database) { $0.note(requirement.uses, of: query) }
            return explain.map { Explanation($0, requirement.uses, start: ticks()) }
        }
        let refusal = registers.update(database.database) {
            $0.admit(query, requirement, in: database)
        }
        if let refusal { throw explain?.analyze == false ? MissingIndex.notPlanned : refusal }
        // An index that is not enforced is explained as if it existed, because production would use
        // it.
        let uses = requirement.uses + requirement.missing.map(\.use)
        return explain.map { Explanation($0, uses, start: ticks()) }
    }

    /// Returns the plan of a query that has run, and the cost of the run.
    func metrics(_ explanation: Explanation, _ counters: Explanation.Counters) -> ExplainMetrics {
        explanation.metrics(counters, end: ticks())
    }

    /// Returns the existing indexes. Without settings these are the automatic indexes, and none in
    /// the Enterprise edition.
    func configuration(of database: DatabaseID) -> IndexConfiguration {
        let configuration = registers[database.database].configuration
        return editions.edition(of: database).demandsIndexes
            ? configuration : configuration.withoutAutomaticIndexes
    }

    /// Returns the declared indexes; nil if none are enforced.
    ///
    /// - Parameter scope: The databases; those without own indexes stand in for an unknown one.
    func declared(_ scope: DatabaseScope) -> IndexConfiguration? {
        registers.value(of: scope).settings?.configuration
    }

    /// Replaces the indexes of some databases. The counts stay.
    ///
    /// - Parameter settings: The indexes; nil enforces none.
    /// - Returns: False if too many databases have their own indexes.
    func set(_ settings: IndexSettings?, of scope: DatabaseScope) -> Bool {
        var register = registers.own(scope) ?? IndexRegister(nil)
        register.set(settings)
        return registers.set(register, of: scope)
    }

    /// Returns the policies of time to live for a database.
    func expiryPolicies(of database: DatabaseID) -> [ExpiryPolicy] {
        registers[database.database].settings?.configuration.expiryPolicies ?? []
    }

    /// True if a database has a policy of time to live.
    var hasExpiryPolicies: Bool {
        registers.all.contains {
            $0.value.settings?.configuration.expiryPolicies.isEmpty == false
        }
    }

    /// Returns a query's requirement of indexes.
    func requirement(
        _ query: Query, _ aggregations: [Aggregation], in database: DatabaseID
    ) -> IndexRequirement {
        if editions.edition(of: database).demandsIndexes {
            return registers[database.database].requirement(query, aggregations)
        }
        return IndexRequirement(query, aggregations, in: configuration(of: database).catalog)
    }

    /// Records the price of a query that had no index.
    func note(_ units: QueryUnits, in database: DatabaseID) {
        guard case .scan(let missing) = units.plan else { return }
        scans.note(missing, units: units, in: database)
    }

    /// Returns the names of the indexes that serve a query, and of those that it would need.
    func names(
        _ query: Query, _ aggregations: [Aggregation], in database: DatabaseID
    ) -> [String] {
        let requirement = requirement(query, aggregations, in: database)
        return requirement.uses.map { "\($0.queryScope) \($0.properties)" }
            + requirement.missing.map { "missing: \($0.sentence)" }
    }

    /// Returns the notices about indexes since the last call.
    func takeNotices() -> [IndexRegister.Notice] {
        var notices: [IndexRegister.Notice] = []
        registers.updateAll { notices += $0.takeNotices() }
        notices += scans.takeNotices()
        return notices
    }

    /// The indexes that queries have used and missed, the most wanted first, by databases.
    var report: IndexReport {
        let reports = registers.all.map { $0.value.report(of: $0.scope) }
        return IndexReport(
            policy: reports.lazy.compactMap(\.policy).first, missing: reports.flatMap(\.missing),
            used: reports.flatMap(\.used), scans: scans.rows.isEmpty ? nil : scans.rows)
    }

    /// Returns a file of the missing indexes; nil if none is missing.
    func missingConfiguration(_ scope: DatabaseScope) -> IndexConfiguration? {
        registers.value(of: scope).missingConfiguration
    }

    /// The scopes with indexes of their own.
    var scopes: [DatabaseScope] { registers.all.map(\.scope) }
}
