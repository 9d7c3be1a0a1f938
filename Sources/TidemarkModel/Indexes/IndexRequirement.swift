/// The indexes from which production would answer a query, or the indexes that it would require.
///
/// Source: server-protocol 2.2 and server-production-facts 4. The disjuncts are planned separately,
/// all in the query's order. An index serves a disjunct if it holds fields that the disjunct fixes,
/// in any order, followed by exactly the orders. Several indexes with the same orders are merged
/// until they cover every fixed field. Which plan production prefers among several is not
/// documented. This type chooses the fewest indexes, greedily.
package struct IndexRequirement: Hashable, Sendable {
    /// The indexes in use, without duplicates, in the order in which they were found.
    package private(set) var uses: [IndexUse] = []
    package private(set) var missing: [MissingIndex] = []
    /// The declared indexes among those in use.
    package private(set) var declared: Set<CompositeIndex> = []

    private let catalog: IndexCatalog

    /// - Parameter query: A valid query.
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
    /// An index that can take part in a plan, and the fixed fields that it covers.
    private struct Candidate {
        let use: IndexUse
        var covers: Set<IndexNeed.Fixed> = []
        /// The declared index; nil for an automatic one.
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

    /// True if the documents in name order serve the need. That order exists in every scope and
    /// cannot be exempted.
    private func isServedByNames(_ need: IndexNeed) -> Bool {
        need.fixed.isEmpty && need.orders.isEmpty && need.summed.isEmpty
            && need.nameDirection != .descending
    }

    /// Returns the usable indexes, single fields first, so that a declared index is chosen only
    /// when it is better.
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

    /// Returns the index that is missing: a single-field index if exactly one would suffice,
    /// otherwise one composite index for the whole disjunct.
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
    /// Plans a vector query: one index must hold the vector and, before it, every field of the
    /// filter.
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
