import TidemarkModel

/// Which indexes production would answer a query from, or which it would ask for.
///
/// Source: server-protocol 2.2 and server-production-facts 4. Each disjunct is planned alone, all in
/// the query's order. An index serves it when it holds fields that the disjunct fixes, in any order,
/// and then the orders exactly; several that share those orders are merged until every fixed field
/// is covered. What production picks where several ways lead there is not documented: here it is the
/// fewest indexes, found greedily.
struct IndexRequirement {
    /// In the order they were found, each once.
    private(set) var uses: [IndexUse] = []
    private(set) var missing: [MissingIndex] = []

    private let configuration: IndexConfiguration
    private let query: Query
    private let scope: IndexScope

    /// - Parameter query: A valid one.
    init(
        _ query: Query, _ aggregations: [Aggregation] = [],
        _ configuration: IndexConfiguration
    ) {
        self.configuration = configuration
        self.query = query.wireForm
        scope = query.allDescendants || query.collectionID == nil ? .collectionGroup : .collection
        let fields = aggregations.compactMap(\.field)
        var seen: Set<IndexNeed> = []
        for conjunction in Self.disjuncts(of: query.filter) {
            let need = IndexNeed(conjunction, of: self.query, summed: fields)
            guard seen.insert(need).inserted else { continue }
            if let nearest = query.findNearest {
                planNearest(need, nearest)
            } else {
                plan(need)
            }
        }
    }

    private static func disjuncts(of filter: Filter?) -> [[Filter]] {
        guard let filter else { return [[]] }
        let disjuncts = filter.disjunctiveNormalForm(limit: QueryLimits.disjunctions) ?? []
        // A valid query has disjuncts, and not more than that.
        return disjuncts.isEmpty ? [[]] : disjuncts
    }

    private mutating func use(_ use: IndexUse) {
        if !uses.contains(use) { uses.append(use) }
    }

    private mutating func miss(_ index: MissingIndex) {
        if !missing.contains(index) { missing.append(index) }
    }

    private var group: String { query.collectionID ?? "" }
}

// MARK: - Ordinary queries

extension IndexRequirement {
    /// An index that takes part, and the fixed fields it answers for.
    private struct Candidate {
        let use: IndexUse
        let covers: Set<IndexNeed.Fixed>
    }

    private mutating func plan(_ need: IndexNeed) {
        if isServedByNames(need) {
            return use(IndexUse(queryScope: scope.spoken, properties: "(__name__ ASC)"))
        }
        let candidates = candidates(for: need)
        if need.fixed.isEmpty {
            guard let first = candidates.first else { return miss(ask(for: need)) }
            return use(first.use)
        }
        var open = need.fixed
        var chosen: [IndexUse] = []
        while !open.isEmpty {
            let best = candidates.max { a, b in
                a.covers.intersection(open).count < b.covers.intersection(open).count
            }
            guard let best, !best.covers.isDisjoint(with: open) else {
                return miss(ask(for: need))
            }
            open.subtract(best.covers)
            chosen.append(best.use)
        }
        for index in chosen { use(index) }
    }

    /// The documents by name: always there, in every scope, and not to be exempted.
    private func isServedByNames(_ need: IndexNeed) -> Bool {
        need.fixed.isEmpty && need.orders.isEmpty && need.summed.isEmpty
            && need.nameDirection != .descending
    }

    /// Single fields first, so that they are chosen where a declared index is no better.
    private func candidates(for need: IndexNeed) -> [Candidate] {
        var result: [Candidate] = []
        for single in need.singleFields {
            let index = SingleFieldIndex(group: group, scope: scope, field: single.field)
            if configuration.has(index) {
                result.append(Candidate(use: index.use, covers: single.covers))
            }
        }
        for index in configuration.composites(of: ByteString(group), scope) {
            if let covers = need.coverage(by: index.fields) {
                result.append(Candidate(use: index.use, covers: covers))
            }
        }
        return result
    }

    /// What would serve: the one single-field index that is not there, where only one is, else one
    /// composite index for the whole disjunct.
    private func ask(for need: IndexNeed) -> MissingIndex {
        let singles = need.singleFields
        let isAlone =
            need.fixed.isEmpty || Set(singles.flatMap(\.covers)) == need.fixed
        let absent = singles.map { SingleFieldIndex(group: group, scope: scope, field: $0.field) }
            .filter { !configuration.has($0) }
        if isAlone, absent.count == 1 { return .singleField(absent[0]) }
        return .composite(need.composite(group: group, scope: scope))
    }
}

// MARK: - Nearest neighbours

extension IndexRequirement {
    /// One index must hold the vector and everything that the query filters by before it.
    private mutating func planNearest(_ need: IndexNeed, _ nearest: FindNearest) {
        let vector = IndexedField(nearest.field, .vector(dimension: nearest.vector.count))
        for index in configuration.composites(of: ByteString(group), scope) {
            guard index.fields.last == vector,
                need.coverage(by: index.fields.dropLast()) == need.fixed
            else { continue }
            return use(index.use)
        }
        let whole = need.composite(group: group, scope: scope)
        miss(
            .composite(
                CompositeIndex(group: group, scope: scope, fields: whole.fields + [vector])))
    }
}
