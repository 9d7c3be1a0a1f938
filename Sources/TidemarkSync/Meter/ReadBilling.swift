import TidemarkModel

/// What an answer costs, as far as its caller can see. Source: server-protocol 2.3.
///
/// Made from the messages alone, and not from the server's figures: against Firestore there are none.
/// What a caller never hears of, because a connection broke, it cannot count.
enum ReadBilling {
    /// How long a listener may be away and still be billed for the changes only.
    static let resumeWindow = Duration.seconds(30 * 60)
    /// Index entries that one read covers.
    static let entriesPerRead = 1_000

    /// A single call's replies.
    struct Bill: Equatable {
        var reads = 0
        /// When it was, by the server's clock; nil when it did not say.
        var time: Timestamp?
        /// Whether the answer does not tell all of the price: the bill is at least this.
        var isLowerBound = false
    }

    /// What was heard of a query's answer.
    struct Heard: Equatable {
        private(set) var rows = 0
        private(set) var time: Timestamp?
        private(set) var isAnything = false

        mutating func add(_ reply: RunQueryReply) {
            rows += reply.skippedResults + (reply.document == nil ? 0 : 1)
            time = reply.readTime ?? time
            isAnything = true
        }
    }

    /// - Parameter isWhole: Whether all replies came: an answer with nothing in it costs one.
    static func bill(for request: Request, _ replies: [Reply], isWhole: Bool) -> Bill {
        switch request {
        case .runQuery(let request): query(request.query, replies, isWhole)
        case .batchGetDocuments: lookups(replies)
        case .runAggregationQuery(let request): aggregation(request, replies)
        default: Bill()
        }
    }

    private static func query(_ query: Query, _ replies: [Reply], _ isWhole: Bool) -> Bill {
        var heard = Heard()
        for case .runQuery(let reply) in replies { heard.add(reply) }
        return bill(for: query, heard, isWhole: isWhole)
    }

    static func bill(for query: Query, _ heard: Heard, isWhole: Bool) -> Bill {
        var bill = Bill()
        bill.time = heard.time
        bill.isLowerBound = query.hasSeveralRangeFields
        if isWhole || heard.isAnything { bill.reads = max(1, heard.rows) }
        bill.reads += entries(of: query, rows: heard.rows)
        return bill
    }

    /// A document that is missing was looked up all the same.
    private static func lookups(_ replies: [Reply]) -> Bill {
        var bill = Bill()
        for case .batchGetDocuments(let reply) in replies where reply.row != nil {
            bill.reads += 1
            bill.time = reply.readTime
        }
        return bill
    }

    /// A count says how many entries were read; other figures do not.
    private static func aggregation(
        _ request: RunAggregationQueryRequest, _ replies: [Reply]
    ) -> Bill {
        var bill = Bill()
        let named = Aggregation.withDefaultAliases(request.aggregations)
        for case .runAggregationQuery(let reply) in replies {
            bill.time = reply.readTime
            var counted: Int64?
            for aggregation in named {
                guard case .count = aggregation.operation,
                    case .integer(let count)? = reply.values?[aggregation.alias]
                else { continue }
                counted = max(count, counted ?? 0)
            }
            bill.isLowerBound = counted == nil
            let rows = Int(clamping: counted ?? 0)
            bill.reads = max(1, batches(rows == 0 ? 0 : rows + request.query.offset))
        }
        return bill
    }

    /// The index entries of a query over several range fields: at least one a row. A caller is not told
    /// how many were passed over.
    static func entries(of query: Query, rows: Int) -> Int {
        query.hasSeveralRangeFields ? batches(rows) : 0
    }

    private static func batches(_ entries: Int) -> Int {
        entries / entriesPerRead + (entries % entriesPerRead > 0 ? 1 : 0)
    }
}
