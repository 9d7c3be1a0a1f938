/// What one disjunct of a query asks of an index: everything about the query that decides which one
/// serves it, and none of its values.
package struct IndexShape: Hashable, Sendable {
    /// The collections' id; empty for all collections.
    package let group: ByteString
    package let scope: IndexScope
    package let need: IndexNeed
    /// What nearest neighbours are searched in.
    package let vector: IndexedField?

    package init(group: String, scope: IndexScope, need: IndexNeed, vector: IndexedField? = nil) {
        self.group = ByteString(group)
        self.scope = scope
        self.need = need
        self.vector = vector
    }

    /// One for each disjunct, each once; all are planned in the query's order.
    ///
    /// - Parameter query: A valid one.
    package static func shapes(
        of query: Query, _ aggregations: [Aggregation] = []
    ) -> [IndexShape] {
        let scope: IndexScope =
            query.allDescendants || query.collectionID == nil ? .collectionGroup : .collection
        let vector = query.findNearest.map {
            IndexedField($0.field, .vector(dimension: $0.vector.count))
        }
        let fields = aggregations.compactMap(\.field)
        let sent = query.wireForm
        var seen: Set<IndexNeed> = []
        return disjuncts(of: query.filter).compactMap { conjunction in
            let need = IndexNeed(conjunction, of: sent, summed: fields)
            guard seen.insert(need).inserted else { return nil }
            return IndexShape(
                group: query.collectionID ?? "", scope: scope, need: need, vector: vector)
        }
    }

    private static func disjuncts(of filter: Filter?) -> [[Filter]] {
        guard let filter else { return [[]] }
        let disjuncts = filter.disjunctiveNormalForm(limit: QueryLimits.disjunctions) ?? []
        // A valid query has disjuncts, and not more than that.
        return disjuncts.isEmpty ? [[]] : disjuncts
    }
}
