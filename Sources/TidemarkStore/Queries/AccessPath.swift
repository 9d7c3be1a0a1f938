import TidemarkModel

/// A way to find the rows of one alternative of a query.
struct AccessPath {
    enum Source {
        case point(DocumentPath)
        case entries(FieldIndex, scope: Int64)
        /// The documents of one collection, by name.
        case names(CollectionRow)
        /// The documents of all collections that the query may read, unordered.
        case everything
    }

    let source: Source
    var range = KeyRange.all
    var isReversed = false
    /// True if the rows come in the query's order.
    var isOrdered = false
    /// True if every row found is a row of the query; otherwise each is tested.
    var isExact = false
    /// The test of each row: only this alternative of the filter. A row of another alternative
    /// would be out of order.
    var test: CompiledFilter?
    /// A measure of how much the source narrows the search. A higher score is better.
    var score = 0

    var sentence: String {
        switch source {
        case .point(let path): "document \(path)"
        case .entries(let index, _):
            "index \(index.sentence)\(isReversed ? ", backwards" : "")"
        case .names(let collection):
            (range == .all ? "collection" : "names of")
                + " \(collection.path)\(isReversed ? ", backwards" : "")"
        case .everything: "all documents of the collections below"
        }
    }
}

/// The way in which a query is run.
struct QueryPlan {
    /// The access path of each alternative; empty if nothing can match.
    var paths: [AccessPath]
    /// The indexes that would serve better, to be requested if the query turns out to be expensive.
    var wishes: [IndexDefinition] = []

    /// True if all rows must be found before the first one is known.
    var isSorted: Bool { !paths.allSatisfy(\.isOrdered) }

    var sentence: String {
        guard let first = paths.first else { return "nothing can match" }
        var result = first.sentence
        if paths.count > 1 { result = "\(paths.count) ranges merged, the first: " + result }
        if !paths.allSatisfy(\.isExact) { result += ", each tested" }
        if isSorted { result += ", then sorted" }
        return result
    }
}
