extension Query {
    /// The query whose rows an aggregation is over, for the server and for a cache.
    ///
    /// Sums and averages add their fields to the order, before the name: with a limit or an offset
    /// that decides which rows take part. The sum of `r` over `limit(1)` is the smallest `r`, and
    /// not that of the first document. Source: server-protocol 1.6, where Google's tests ask
    /// `limit(12)` of the sum of a field and expect the 12 smallest.
    ///
    /// - Parameter aggregations: Checked ones.
    /// - Throws: `invalidArgument` where production can have no index for it.
    package func ordered(
        for aggregations: [Aggregation]
    ) throws(RPCStatus) -> Query {
        guard limit != nil || offset > 0 else { return self }
        var orders = normalizedOrders
        let fields = aggregations.compactMap(\.field).filter { field in
            !orders.contains { $0.field == field }
        }
        if fields.isEmpty { return self }
        // A cursor that reaches the name has fixed its place, as an explicit order has.
        let values = max(start?.values.count ?? 0, end?.values.count ?? 0)
        if self.orders.contains(where: { $0.field.isDocumentID }) || values >= orders.count {
            let names = fields.map(\.encoded).joined(separator: ", ")
            throw .invalidArgument(
                "This query requires an index with fields [\(names)] after __name__ and Firestore "
                    + "does not currently support such an index. Please try the query again with "
                    + "additional ordering on those fields.")
        }
        let name = orders.removeLast()
        for field in fields where !orders.contains(where: { $0.field == field }) {
            orders.append(Order(field, name.direction))
        }
        var result = self
        result.orders = orders + [name]
        return result
    }

    /// Checks the query as ``validate()`` does, and that it searches no vectors: what listens and
    /// aggregations need.
    package func validateWithoutVectors() throws(RPCStatus) {
        try validate()
        if findNearest != nil { throw .noVectorSearchHere }
    }
}

extension RPCStatus {
    /// In calls and targets other than RunQuery. Production's text was not seen.
    package static let noVectorSearchHere = RPCStatus.invalidArgument(
        "FindNearest can only be used in RunQuery.")
}
