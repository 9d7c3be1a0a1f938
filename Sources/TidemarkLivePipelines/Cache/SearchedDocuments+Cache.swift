import Tidemark

extension SearchedDocuments {
    /// Describes a search in the cache.
    init(_ search: CachedSearch, words: [WordIndexDefinition]) {
        self.init(
            search.query, words: words, usesIndex: search.usesIndex, completeAt: search.confirmed)
    }

    /// - Parameter query: The collections that were searched.
    init(
        _ query: QueryValue, words: [WordIndexDefinition], usesIndex: Bool, completeAt: Timestamp?
    ) {
        let id = query.collectionID ?? ""
        let index = words.first { $0.collectionID.hasSameBytes(as: id) }
        self.init(
            collection: query.collection?.text ?? id,
            fields: index?.fields.map(\.encoded) ?? [], usesIndex: usesIndex,
            completeAt: completeAt)
    }
}
