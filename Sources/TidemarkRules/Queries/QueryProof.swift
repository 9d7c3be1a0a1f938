public import TidemarkModel

extension Ruleset {
    /// The maximum number of conjunctions, more than any query of production has. Beyond it, only
    /// facts that hold for all results count.
    private static let mostConjunctions = 512

    /// Decides about a query, an aggregation or a listen: whether every possible result is allowed,
    /// whatever the database contains.
    ///
    /// Only documents for `get` and similar functions are read. A query that does not prove the
    /// condition is refused, and the verdict names the missing conditions.
    ///
    /// - Parameters:
    ///   - caller: The caller; nil if not signed in.
    ///   - reads: The documents that the request's rules have read so far.
    public func decide(
        _ query: Query, in database: String = "(default)", as caller: RulesCaller?,
        at time: Timestamp, reading documents: any RulesDocuments,
        reads: RulesReads = RulesReads(), trace: RulesTrace? = nil
    ) -> RulesDecision {
        var reads = reads
        reads.beginOperation()
        var verdicts: [RulesDecision.Verdict] = []
        var conjunctions = Self.conjunctions(of: query.filter)
        #if TIDEMARK_DEFECTS
            if RulesDefect.planted == .firstAlternativeOnly { conjunctions = [conjunctions[0]] }
        #endif
        for conjunction in conjunctions {
            let facts = QueryFacts(conjunction, of: query)
            let request = RulesRequest(query, facts, in: database, as: caller, at: time)
            var evaluator = Evaluator(
                ruleset: self, request: request, documents: documents, reads: reads, trace: trace)
            verdicts = []
            let isAllowed = evaluator.isAllowed(in: self, &verdicts)
            reads = evaluator.reads
            if !isAllowed {
                return RulesDecision(
                    method: .list, verdicts: verdicts, isAllowed: false, reads: reads)
            }
        }
        return RulesDecision(method: .list, verdicts: verdicts, isAllowed: true, reads: reads)
    }

    /// Returns the filter as alternatives. Each result matches at least one.
    fileprivate static func conjunctions(of filter: Filter?) -> [[Filter]] {
        guard let filter, !filter.isVacuous else { return [[]] }
        if let all = filter.disjunctiveNormalForm(limit: mostConjunctions) {
            return all.isEmpty ? [sure(filter)] : all
        }
        return [sure(filter)]
    }

    /// Returns the comparisons that hold for every result.
    private static func sure(_ filter: Filter) -> [Filter] {
        switch filter {
        case .field, .unary: [filter]
        case .and(let filters): filters.flatMap(sure)
        case .or: []
        }
    }
}

extension RulesRequest {
    /// Makes a request for all results of a query, with the facts of its first alternative.
    init(_ query: Query, in database: String, as caller: RulesCaller?, at time: Timestamp) {
        let conjunction = Ruleset.conjunctions(of: query.filter)[0]
        self.init(query, QueryFacts(conjunction, of: query), in: database, as: caller, at: time)
    }

    /// Makes a request for all documents that `facts` permits.
    init(
        _ query: Query, _ facts: QueryFacts, in database: String, as caller: RulesCaller?,
        at time: Timestamp
    ) {
        let known = facts.name.map { RulesPath($0.path, in: $0.database.database) }
        let unknown = RulesValue.known(Knowledge())
        let name = known.map { RulesValue.path($0) } ?? unknown
        let orders = query.orders.map { order in
            (
                key: order.field.encoded,
                value: RulesValue.string(order.direction == .ascending ? "ASC" : "DESC")
            )
        }
        let facets = RulesMap([
            ("limit", query.limit.map { .integer(Int64($0.count)) } ?? .null),
            ("offset", .integer(Int64(query.offset))),
            ("orderBy", orders.isEmpty ? .null : .map(RulesMap(orders))),
        ])
        method = .list
        path = known.map { $0.segments.map { .text($0) } } ?? query.pathParts(in: database)
        request = RulesMap([
            ("auth", caller?.value ?? .null), ("method", .string("list")), ("path", name),
            ("query", .map(facets)), ("time", .timestamp(time)),
        ])
        let id = known?.segments.last.map { RulesValue.string($0) } ?? unknown
        resource = .value(
            .map(RulesMap([("__name__", name), ("data", facts.data), ("id", id)])))
    }
}

extension Query {
    /// Returns the known parts of the results' paths.
    fileprivate func pathParts(in database: String) -> [PathPattern.Part] {
        var parts: [PathPattern.Part] = [.text("databases"), .text(database), .text("documents")]
        parts += (parent?.segments ?? []).map { .text($0) }
        if allDescendants { parts.append(.anyNumber) }
        parts.append(collectionID.map { .text($0) } ?? .anyOne)
        return parts + [.anyOne]
    }
}
