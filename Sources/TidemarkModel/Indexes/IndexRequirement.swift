/// Which indexes production would answer a query from, or which it would ask for.
///
/// Source: server-protocol 2.2 and server-production-facts 4. Each disjunct is planned alone, all in
/// the query's order. An index serves it when it holds fields that the disjunct fixes, in any order,
/// and then the orders exactly; several that share those orders are merged until every fixed field
/// is covered. What production picks where several ways lead there is not documented: here it is the
/// fewest indexes, found greedily.
package struct IndexRequirement: Hashable, Sendable {
    /// In the order they were found, each once.
    package private(set) var uses: [IndexUse] = []
    package private(set) var missing: [MissingIndex] = []
    /// Of those in use, the ones that somebody declared.
    package private(set) var declared: Set<CompositeIndex> = []

    private let catalog: IndexCatalog

    /// - Parameter query: A valid one.
    package init(_ query: Query, _ aggregations: [Aggregation] = [], in catalog: IndexCatalog) {
        self.init(IndexShape.shapes(of: query, aggregations), in: catalog)
    }

    package init(_ shapes: [IndexShape], in catalog: IndexCatalog) {
        self.catalog = catalog
        for shape in shapes {
            if let vector = shape.vector { planNearest(shape, vector) } else { plan(shape) }
        }
    }

    private mutating func use(_ candidate: Candidate) {
        if !uses.contains(candidate.use) { uses.append(candidate.use) }
        if let index = candidate.composite { declared.insert(index) }
    }

    private mutating func miss(_ index: MissingIndex) {
        if !missing.contains(index) { missing.append(index) }
    }
}

// MARK: - Ordinary queries

extension IndexRequirement {
    /// An index that takes part, and the fixed fields it answers for.
    private struct Candidate {
        let use: IndexUse
        var covers: Set<IndexNeed.Fixed> = []
        /// Nil for what is automatic.
        var composite: CompositeIndex?
    }

    private mutating func plan(_ shape: IndexShape) {
        let need = shape.need
        if isServedByNames(need) {
            let names = IndexUse(queryScope: shape.scope.spoken, properties: "(__name__ ASC)")
            return use(Candidate(use: names))
        }
        let candidates = candidates(for: shape)
        if need.fixed.isEmpty {
            guard let first = candidates.first else { return miss(ask(for: shape)) }
            return use(first)
        }
        var open = need.fixed
        var chosen: [Candidate] = []
        while !open.isEmpty {
            let best = candidates.max { a, b in
                a.covers.intersection(open).count < b.covers.intersection(open).count
            }
            guard let best, !best.covers.isDisjoint(with: open) else {
                return miss(ask(for: shape))
            }
            open.subtract(best.covers)
            chosen.append(best)
        }
        for index in chosen { use(index) }
    }

    /// The documents by name: always there, in every scope, and not to be exempted.
    private func isServedByNames(_ need: IndexNeed) -> Bool {
        need.fixed.isEmpty && need.orders.isEmpty && need.summed.isEmpty
            && need.nameDirection != .descending
    }

    /// Single fields first, so that they are chosen where a declared index is no better.
    private func candidates(for shape: IndexShape) -> [Candidate] {
        var result: [Candidate] = []
        for single in shape.need.singleFields {
            let index = SingleFieldIndex(
                group: shape.group.text, scope: shape.scope, field: single.field)
            if catalog.has(index) {
                result.append(Candidate(use: index.use, covers: single.covers))
            }
        }
        for index in catalog.composites(of: shape.group, shape.scope) {
            if let covers = shape.need.coverage(by: index.fields) {
                result.append(Candidate(use: index.use, covers: covers, composite: index))
            }
        }
        return result
    }

    /// What would serve: the one single-field index that is not there, where only one is, else one
    /// composite index for the whole disjunct.
    private func ask(for shape: IndexShape) -> MissingIndex {
        let need = shape.need
        let singles = need.singleFields
        let isAlone =
            need.fixed.isEmpty || Set(singles.flatMap(\.covers)) == need.fixed
        let absent = singles.map {
            SingleFieldIndex(group: shape.group.text, scope: shape.scope, field: $0.field)
        }.filter { !catalog.has($0) }
        if isAlone, absent.count == 1 { return .singleField(absent[0]) }
        return .composite(need.composite(group: shape.group.text, scope: shape.scope))
    }
}

// MARK: - Nearest neighbours

extension IndexRequirement {
    /// One index must hold the vector and everything that the query filters by before it.
    private mutating func planNearest(_ shape: IndexShape, _ vector: IndexedField) {
        for index in catalog.composites(of: shape.group, shape.scope) {
            guard index.fields.last == vector,
                shape.need.coverage(by: index.fields.dropLast()) == shape.need.fixed
            else { continue }
            return use(Candidate(use: index.use, composite: index))
        }
        let whole = shape.need.composite(group: shape.group.text, scope: shape.scope)
        miss(
            .composite(
                CompositeIndex(
                    group: shape.group.text, scope: shape.scope, fields: whole.fields + [vector])))
    }
}
