import TidemarkModel
import TidemarkStore

/// Answers partition queries.
struct PartitionAnswer {
    let access: ReadAccess

    /// The maximum number of cursors on a page.
    private static let maxCursors = 300

    /// Divides a collection group into parts that a client can read in parallel.
    ///
    /// The parts depend on the group at the time of each page: regardless of writes between two
    /// pages, all cursors together divide the group without loss.
    func reply(
        _ request: PartitionQueryRequest, context: CallContext, transaction: StoreTransaction
    ) throws -> Reply {
        try request.validate()
        let mark = PageToken.fingerprint(
            "partitions", request.query.collectionID ?? "", "\(request.partitionCount)")
        let given = try Self.given(
            request.pageToken, mark, of: request.partitionCount)
        let scope = try access.scope(
            request.consistency, context: context, transaction: transaction)
        var points = SplitPoints()
        _ = try scope.run(request.query) { document in
            points.add(document.path)
            return true
        }
        access.bill(
            Billing.withoutDocuments, for: request.query, by: .partitionQuery, context: context)
        var cuts = points.cuts(upTo: Int(clamping: request.partitionCount))[...]
        if let last = given.last { cuts = cuts.drop { $0 <= last } }
        cuts = cuts.prefix(Int(clamping: request.partitionCount - given.count))
        let size = request.pageSize == 0 ? Self.maxCursors : min(request.pageSize, Self.maxCursors)
        let page = cuts.prefix(size).map { path in
            Cursor(
                values: [.reference(ReferenceValue(database: context.database, path: path))],
                before: true)
        }
        var next = ""
        if cuts.count > size, let last = page.last {
            let count = given.count + Int64(page.count)
            let values = last.values + [.integer(count)]
            next = PageToken(fingerprint: mark, values: values).text
        }
        return .partitionQuery(Array(page), nextPageToken: next)
    }

    /// Returns the last cursor and the number of cursors on the earlier pages.
    private static func given(
        _ token: String, _ mark: UInt64, of wanted: Int64
    ) throws(RPCStatus) -> (last: DocumentPath?, count: Int64) {
        if token.isEmpty { return (nil, 0) }
        let values = try PageToken(token, of: mark).values
        guard case .reference(let last)? = values.first,
            case .integer(let count)? = values.last, (0...wanted).contains(count)
        else { throw .invalidArgument("invalid page token") }
        return (last.path, count)
    }
}

extension PartitionQueryRequest {
    /// Checks the query. A partition query names a whole collection group, in the order of names,
    /// and nothing else. The rules are documented; the texts are this server's, because
    /// production's were not observed.
    fileprivate func validate() throws(RPCStatus) {
        try query.validate()
        if pageSize < 0 { throw .invalidArgument("Page size must be nonnegative.") }
        if partitionCount <= 0 {
            throw .invalidArgument("partition_count must be greater than zero.")
        }
        if query.parent != nil {
            throw .invalidArgument("The parent of a partition query must be the root.")
        }
        if query.collectionID == nil || !query.allDescendants {
            throw .invalidArgument(
                "A partition query must name a collection and have all_descendants set.")
        }
        if query.normalizedOrders != [Order(.documentID)] {
            throw .invalidArgument("A partition query must be ordered by __name__ ascending.")
        }
        if query.filter.map({ !$0.isVacuous }) ?? false {
            throw .invalidArgument("A partition query cannot have filters.")
        }
        if query.start != nil || query.end != nil {
            throw .invalidArgument("A partition query cannot have cursors.")
        }
        if query.limit != nil || query.offset > 0 {
            throw .invalidArgument("A partition query cannot have a limit or an offset.")
        }
        if query.findNearest != nil { throw .noVectorSearchHere }
    }
}
