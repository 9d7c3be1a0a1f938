import TidemarkModel

/// One way to the rows of one alternative of a query.
struct AccessPath {
    enum Source {
        case point(DocumentPath)
        case entries(FieldIndex, scope: Int64)
        /// The documents of one collection by name.
        case names(CollectionRow)
        /// The documents of all collections that may take part, in no order.
        case everything
    }

    let source: Source
    var range = KeyRange.all
    var isReversed = false
    /// Whether the rows come in the query's order.
    var isOrdered = false
    /// Whether every row found is a row of the query; else each is tested.
    var isExact = false
    /// What each is tested with. One alternative and not all: a row of another would come out of
    /// order.
    var test: CompiledFilter?
    /// How much the source narrows what is looked at: more is better.
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

/// How a query is run.
struct QueryPlan {
    /// One for each alternative; none when nothing can match.
    var paths: [AccessPath]
    /// Indexes that would serve better, to be wished for when it turns out to matter.
    var wishes: [IndexDefinition] = []

    /// Whether all rows must be found before the first is known.
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
