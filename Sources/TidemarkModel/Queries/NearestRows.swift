extension FindNearest {
    /// Returns the distance of `other` from the query vector; for ``DistanceMeasure/dotProduct``,
    /// the product.
    ///
    /// - Returns: The distance; nil for a vector of another dimension or if the result is NaN,
    ///   which an infinite component can cause. Such a row is dropped.
    /// - Throws: An error with production's text for a vector of length zero under
    ///   ``DistanceMeasure/cosine``. It was recorded for a query vector. That production also
    ///   rejects a stored vector was not recorded; its code, `FAILED_PRECONDITION`, suggests that
    ///   it does.
    public func distance(to other: [Double]) throws(RPCStatus) -> Double? {
        guard other.count == vector.count else { return nil }
        let distance: Double
        switch measure {
        case .euclidean: distance = Self.sum(vector, other) { ($0 - $1) * ($0 - $1) }.squareRoot()
        case .dotProduct: distance = Self.sum(vector, other) { $0 * $1 }
        case .cosine: distance = try cosineDistance(to: other)
        }
        return distance.isNaN ? nil : distance
    }

    private func cosineDistance(to other: [Double]) throws(RPCStatus) -> Double {
        if Self.isZero(vector) || Self.isZero(other) {
            throw RPCStatus(
                .failedPrecondition,
                "Cannot compute cosine distance against a vector with a magnitude of zero.",
                details: [.reason("COSINE_DISTANCE_ON_ZERO_VECTOR")])
        }
        let distance = Self.cosineDistance(vector, other)
        if let distance { return distance }
        // The squares exceed a double's range. Only the directions matter, so scale the vectors.
        return Self.cosineDistance(Self.scaled(vector), Self.scaled(other)) ?? .nan
    }

    /// Returns nil if the squares are too large or too small.
    private static func cosineDistance(_ a: [Double], _ b: [Double]) -> Double? {
        let squares = sum(a, a) { $0 * $1 } * sum(b, b) { $0 * $1 }
        guard squares.isNormal else { return nil }
        return 1 - sum(a, b) { $0 * $1 } / squares.squareRoot()
    }

    private static func scaled(_ vector: [Double]) -> [Double] {
        let largest = vector.reduce(0) { max($0, $1.magnitude) }
        return vector.map { $0 / largest }
    }

    package static func isZero(_ vector: [Double]) -> Bool { vector.allSatisfy { $0 == 0 } }

    private static func sum(
        _ a: [Double], _ b: [Double], term: (Double, Double) -> Double
    ) -> Double {
        var total = 0.0
        for index in a.indices { total += term(a[index], b[index]) }
        return total
    }

    /// True if `distance` is near enough.
    fileprivate func isWithinThreshold(_ distance: Double) -> Bool {
        guard let threshold else { return true }
        return measure == .dotProduct ? distance >= threshold : distance <= threshold
    }
}

/// The rows of a query that are nearest to a vector, found in one pass over the rows. Holds at most
/// as many rows as the search's limit.
public struct NearestRows: Sendable {
    private let search: FindNearest
    /// A heap: the first row is the farthest.
    private var rows: [Row] = []
    /// The number of rows that have a vector of the right dimension. A vector index has entries for
    /// these rows.
    public private(set) var entries = 0

    private struct Row: Sendable {
        let document: Document
        let distance: Double
        /// The sort key. A smaller rank means a nearer row.
        let rank: Double

        /// Orders rows by rank. Equal ranks are ordered by name.
        func precedes(_ other: Row) -> Bool {
            if rank != other.rank { return rank < other.rank }
            return DocumentPath.compare(document.path, other.document.path) == .ascending
        }
    }

    /// - Parameter search: A search that ``Query/validate()`` has accepted.
    public init(_ search: FindNearest) {
        precondition(search.limit > 0)
        self.search = search
    }

    /// - Throws: ``RPCStatus`` if the distance cannot be measured.
    public mutating func add(_ document: Document) throws(RPCStatus) {
        guard case .vector(let vector)? = document.fields[search.field],
            vector.array.count == search.vector.count
        else { return }
        entries += 1
        guard let distance = try search.distance(to: vector.array),
            search.isWithinThreshold(distance)
        else { return }
        let rank = search.measure == .dotProduct ? -distance : distance
        let row = Row(document: document, distance: distance, rank: rank)
        if rows.count < search.limit {
            rows.append(row)
            rise(from: rows.count - 1)
        } else if row.precedes(rows[0]) {
            rows[0] = row
            sink()
        }
    }

    private mutating func rise(from start: Int) {
        var index = start
        while index > 0, rows[(index - 1) / 2].precedes(rows[index]) {
            rows.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink() {
        var index = 0
        while true {
            var farthest = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < rows.count && rows[farthest].precedes(rows[child]) {
                farthest = child
            }
            if farthest == index { return }
            rows.swapAt(index, farthest)
            index = farthest
        }
    }

    /// The rows, nearest first, each with its distance if the search asks for it.
    public var documents: [Document] {
        rows.sorted { $0.precedes($1) }.map { row in
            guard let field = search.distanceField else { return row.document }
            var fields = row.document.fields
            fields[field] = .double(row.distance)
            var document = row.document
            document.contents = EncodedFields(fields)
            return document
        }
    }
}
