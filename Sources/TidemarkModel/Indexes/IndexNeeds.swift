/// Which indexes queries have asked for, each way of asking once, with how often it came.
///
/// Pure: an app's test run collects it, files of several runs are put together, and
/// ``IndexAdvice`` says what a database lacks for them.
package struct IndexNeeds: Hashable, Sendable {
    /// Ways of asking that are kept: ten times the indexes a database can have. What comes beyond is
    /// counted in ``dropped`` and not kept, so that queries over made-up fields fill no memory.
    package static let capacity = 10_000

    package private(set) var counts: [IndexShape: Int] = [:]
    /// Queries that came when there was no room.
    package private(set) var dropped = 0

    package init() {}

    package var isEmpty: Bool { counts.isEmpty }

    /// Takes note of a query that runs. One that is not valid, and will be refused for that, is left
    /// out.
    ///
    /// - Returns: Whether that way of asking is new.
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

    /// Adds what another run has collected.
    package mutating func merge(_ other: IndexNeeds) {
        for (shape, count) in other.sorted { note(shape, times: count) }
        drop(other.dropped)
    }

    /// Counts queries of which no note is kept.
    mutating func drop(_ queries: Int) {
        dropped = dropped.addingReportingOverflow(max(0, queries)).partialValue
    }

    /// The simplest first, so that what serves those may serve the others too; equal ones by name.
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

    /// Different for different shapes, and the same in every run.
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

/// What a database's indexes lack for the queries that were collected, and which of them nothing
/// uses.
package struct IndexAdvice: Hashable, Sendable {
    /// What is to be added, in the order of the simplest query that asks for it. One that is added
    /// for a query serves those after it, so there are no more than it takes.
    package private(set) var missing: [MissingIndex] = []
    /// Declared indexes that none of the queries would use once what is missing is there.
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
