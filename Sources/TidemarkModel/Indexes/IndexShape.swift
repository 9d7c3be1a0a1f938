/// The properties of one disjunct of a query that decide which index serves it. A shape holds no
/// values of the query.
package struct IndexShape: Hashable, Sendable {
    /// The id of the collections; empty for all collections.
    package let group: ByteString
    package let scope: IndexScope
    package let need: IndexNeed
    /// The vector field of a nearest-neighbour search.
    package let vector: IndexedField?

    package init(group: String, scope: IndexScope, need: IndexNeed, vector: IndexedField? = nil) {
        self.group = ByteString(group)
        self.scope = scope
        self.need = need
        self.vector = vector
    }

    /// Returns the distinct shapes of a query, at most one per disjunct. All are planned in the
    /// query's order.
    ///
    /// - Parameter query: A valid query.
    package static func shapes(
        of query: Query, _ aggregations: [Aggregation] = []
    ) -> [IndexShape] {
        let scope: IndexScope =
            query.allDescendants || query.collectionID == nil ? .collectionGroup : .collection
        let vector = query.findNearest.map {
            IndexedField($0.field, .vector(dimension: $0.vector.count))
        }
        let fields = aggregations.compactMap(\.field)
        let sent = aggregations.isEmpty ? query.wireForm : query.aggregationForm
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
        // A valid query has at least one disjunct and at most `limit`.
        return disjuncts.isEmpty ? [[]] : disjuncts
    }
}
