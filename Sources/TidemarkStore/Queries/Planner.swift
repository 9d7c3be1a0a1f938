import TidemarkModel

/// Chooses how to run a query: for each alternative of its filter, the source that narrows the
/// search most, and among equal ones a source in the query's order.
struct Planner {
    let query: CompiledQuery
    /// The only collection of the query; nil for several collections.
    let collection: CollectionRow?
    /// The collections with the query's id; nil for collections with any id.
    let group: CollectionGroup?

    /// The maximum number of requested indexes per query.
    private static let maxWishes = 8

    func plan() -> QueryPlan {
        guard
            let alternatives = Conjunction.alternatives(of: query.query.filter, in: query.database)
        else { return QueryPlan(paths: [whole]) }
        var plan = QueryPlan(paths: [])
        for alternative in alternatives {
            guard var path = best(for: alternative) else { continue }
            if !path.isExact { path.test = .all(alternative.comparisons.map(CompiledFilter.init)) }
            plan.paths.append(path)
            if plan.wishes.count < Self.maxWishes, let wish = wish(for: alternative, path),
                !plan.wishes.contains(wish)
            {
                plan.wishes.append(wish)
            }
        }
        // One pass over everything costs less than such a pass for one alternative plus ranges for
        // others.
        if plan.paths.count > 1, plan.paths.contains(where: \.isWhole) {
            plan.paths = [whole]
        }
        return plan
    }

    /// A pass over everything that may match, for any filter.
    private var whole: AccessPath {
        var path = scan(Conjunction([], in: query.database))
        path.test = query.filter
        if query.filter != nil { path.isExact = false }
        return path
    }

    /// Returns the best path; nil if the alternative has no rows.
    private func best(for conjunction: Conjunction) -> AccessPath? {
        if let path = conjunction.path {
            guard query.query.contains(path) else { return nil }
            return AccessPath(source: .point(path), isOrdered: true)
        }
        var best = scan(conjunction)
        for index in group?.indexes ?? [] where index.isReady {
            guard index.definition.scope == (collection == nil ? .group : .collection),
                let path = match(index, conjunction), path.score > best.score
            else { continue }
            best = path
        }
        return best.range.isEmpty ? nil : best
    }

    private func match(_ index: FieldIndex, _ conjunction: Conjunction) -> AccessPath? {
        let source = AccessPath.Source.entries(index, scope: collection?.id ?? 0)
        return IndexMatch(
            query, conjunction: conjunction, definition: index.definition, collection: collection)?
            .path(source)
    }

    /// Returns the path without an index.
    private func scan(_ conjunction: Conjunction) -> AccessPath {
        guard let collection else { return AccessPath(source: .everything) }
        let names = IndexDefinition(collectionID: collection.group.id, fields: [])
        let path = IndexMatch(
            query, conjunction: conjunction, definition: names, collection: collection)?.path(
                .names(collection))
        return path ?? AccessPath(source: .names(collection))
    }

    /// Returns the index in which the alternative would be one exact range; nil if the path is
    /// already such a range.
    private func wish(for conjunction: Conjunction, _ path: AccessPath) -> IndexDefinition? {
        guard let group, conjunction.path == nil, !(path.isExact && path.isOrdered) else {
            return nil
        }
        var fields = conjunction.fixed.map(\.field).sorted().map { IndexDefinition.Field($0) }
        if let first = conjunction.contains.first {
            fields.append(IndexDefinition.Field(first.field, .contains))
        }
        let rest = IndexMatch.restOfOrders(query, conjunction)
        // An index also serves the reversed order; the first field decides which of the two is
        // requested.
        let flips = rest.first?.direction == .descending
        for order in rest.dropLast() {
            let isAscending = (order.direction == .ascending) != flips
            fields.append(
                IndexDefinition.Field(order.field, isAscending ? .ascending : .descending))
        }
        if fields.isEmpty, collection != nil { return nil }
        guard Set(rest.map(\.field)).count == rest.count else { return nil }
        let name = rest.last?.direction ?? .ascending
        let wish = IndexDefinition(
            collectionID: group.id, scope: collection == nil ? .group : .collection,
            fields: fields, name: flips ? name.flipped : name)
        return group.indexes.contains { $0.definition == wish } ? nil : wish
    }
}

extension AccessPath {
    /// True if the path visits everything.
    fileprivate var isWhole: Bool {
        switch source {
        case .everything: true
        case .names: range == .all && !isOrdered
        case .point, .entries: false
        }
    }
}
