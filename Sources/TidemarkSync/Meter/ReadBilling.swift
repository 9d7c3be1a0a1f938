import TidemarkModel

/// Computes the cost of an answer, as far as its caller can see it. Source: server-protocol 2.3.
///
/// The cost is computed from the messages alone, because Firestore sends no figures. A caller
/// cannot count a message that it never received because a connection broke.
enum ReadBilling {
    /// The time for which a listener may be away and still pay only for the changes.
    static let resumeWindow = Duration.seconds(30 * 60)
    /// The number of index entries that one read covers.
    static let entriesPerRead = 1_000

    /// The cost of a single call's replies.
    struct Bill: Equatable {
        var reads = 0
        /// The server's time of the answer; nil if the server sent none.
        var time: Timestamp?
        /// True if the answer does not show the complete price: the bill is at least this.
        var isLowerBound = false
    }

    /// The received part of a query's answer.
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

    /// - Parameter isWhole: True if all replies came. An empty answer then costs one read.
    static func bill(for request: Request, _ replies: [Reply], isWhole: Bool) -> Bill {
        switch request {
        case .runQuery(let request): query(request.query, replies: replies, isWhole: isWhole)
        case .batchGetDocuments: lookups(replies)
        case .runAggregationQuery(let request): aggregation(request, replies)
        case .executePipeline(let request): pipeline(request, replies: replies, isWhole: isWhole)
        default: Bill()
        }
    }

    private static func query(_ query: Query, replies: [Reply], isWhole: Bool) -> Bill {
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

    /// Returns the bill of lookups. A missing document costs a lookup too.
    private static func lookups(_ replies: [Reply]) -> Bill {
        var bill = Bill()
        for case .batchGetDocuments(let reply) in replies where reply.row != nil {
            bill.reads += 1
            bill.time = reply.readTime
        }
        return bill
    }

    /// Returns the bill of an aggregation. A count shows the number of read entries; other figures
    /// do not.
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

    /// Returns the bill of a pipeline. Its rows do not show how many documents it read: at least
    /// one for each row, unless a stage makes several rows of one document, or rows of none.
    private static func pipeline(
        _ request: ExecutePipelineRequest, replies: [Reply], isWhole: Bool
    ) -> Bill {
        var bill = Bill(isLowerBound: true)
        var rows = 0
        var names: Set<DocumentPath> = []
        for case .executePipeline(let reply) in replies {
            rows += reply.rows.count
            names.formUnion(reply.rows.lazy.compactMap(\.path))
            bill.time = reply.executionTime ?? bill.time
        }
        let makesRows = request.pipeline?.stages.contains {
            ["unnest", "literals"].contains($0.name)
        }
        if isWhole || !replies.isEmpty {
            bill.reads = max(1, makesRows == true ? names.count : rows)
        }
        return bill
    }

    /// Returns the number of reads for the index entries of a query over several range fields. Each
    /// row has at least one entry. A caller cannot see how many entries were skipped.
    static func entries(of query: Query, rows: Int) -> Int {
        query.hasSeveralRangeFields ? batches(rows) : 0
    }

    private static func batches(_ entries: Int) -> Int {
        entries / entriesPerRead + (entries % entriesPerRead > 0 ? 1 : 0)
    }
}
