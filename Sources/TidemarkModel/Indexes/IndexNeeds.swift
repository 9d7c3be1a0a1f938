/// The index shapes that queries have asked for, with a count for each.
///
/// A pure value: a test run collects the needs, needs of several runs are merged, and
/// ``IndexAdvice`` computes the indexes that a database lacks.
package struct IndexNeeds: Hashable, Sendable {
    /// The maximum number of shapes: ten times the number of indexes that a database can have.
    /// Further shapes are only counted in ``dropped``, so that queries with random field names
    /// cannot fill the memory.
    package static let capacity = 10_000

    package private(set) var counts: [IndexShape: Int] = [:]
    /// The number of queries that were not kept because ``capacity`` was reached.
    package private(set) var dropped = 0

    package init() {}

    package var isEmpty: Bool { counts.isEmpty }

    /// Notes the shapes of a query that runs. Ignores an invalid query, which the server will
    /// refuse.
    ///
    /// - Returns: True if at least one shape is new.
    @discardableResult
    package mutating func note(_ query: Query, _ aggregations: [Aggregation] = []) -> Bool {
        do throws(RPCStatus) { try query.validate() } catch { return false }
        var isNew = false
        for shape in IndexShape.shapes(of: query, aggregations) {
            isNew = note(shape, times: 1) || isNew
        }
        return isNew
    }

    @discardableResult
    package mutating func note(_ shape: IndexShape, times: Int) -> Bool {
        precondition(times >= 0)
        if let count = counts[shape] {
            counts[shape] = count.addingReportingOverflow(times).partialValue
            return false
        }
        guard counts.count < Self.capacity else {
            drop(1)
            return false
        }
        counts[shape] = times
        return true
    }

    /// Adds the needs that another run has collected.
    package mutating func merge(_ other: IndexNeeds) {
        for (shape, count) in other.sorted { note(shape, times: count) }
        drop(other.dropped)
    }

    /// Counts queries whose shapes are not kept.
    mutating func drop(_ queries: Int) {
        dropped = dropped.addingReportingOverflow(max(0, queries)).partialValue
    }

    /// The shapes, simplest first, because an index for a simple shape may also serve later ones.
    /// Equal ranks are sorted by name.
    package var sorted: [(shape: IndexShape, count: Int)] {
        counts.map { (shape: $0.key, count: $0.value) }.sorted { a, b in
            let (left, right) = (a.shape.rank, b.shape.rank)
            if left != right { return left < right }
            return a.shape.key.precedesInBytes(b.shape.key)
        }
    }
}

extension IndexShape {
    fileprivate var rank: Int {
        need.fixed.count + need.orders.count + need.summed.count + (vector == nil ? 0 : 1)
    }

    /// A key that is unique per shape and the same in every run.
    fileprivate var key: String {
        let index = need.composite(group: group.text, scope: scope)
        let fixed = need.sortedFixed.map {
            $0.isElement ? "\($0.field.encoded)[]" : $0.field.encoded
        }
        let name = need.nameDirection.map { "\($0)" } ?? "-"
        return
            ([group.text, scope.rawValue, index.use.properties, name, vector?.spoken ?? ""]
            + fixed).joined(separator: "\n")
    }
}

/// The indexes that a database lacks for the collected queries, and the declared indexes that no
/// query uses.
package struct IndexAdvice: Hashable, Sendable {
    /// The indexes to add, in the order of the simplest query that needs each. An index added for
    /// one query also serves later queries, so the list has no superfluous index.
    package private(set) var missing: [MissingIndex] = []
    /// Declared indexes that no query would use after the missing indexes are added.
    package private(set) var superfluous: [CompositeIndex] = []

    package init(_ needs: IndexNeeds, in catalog: IndexCatalog) {
        var whole = catalog
        let shapes = needs.sorted.map(\.shape)
        for shape in shapes {
            for index in IndexRequirement([shape], in: whole).missing {
                missing.append(index)
                whole.add(index)
            }
        }
        let used = IndexRequirement(shapes, in: whole).declared
        superfluous = catalog.composites.filter { !used.contains($0) }
    }
}
