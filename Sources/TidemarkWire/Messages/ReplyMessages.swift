// The replies of calls, from `google/firestore/v1/firestore.proto`.

struct ListDocumentsResponseMessage: WireMessage {
    /// The elements are encoded `Document`s.
    var documents: [MessageBytes] = []
    var nextPageToken = ""

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &documents)
        coder.field(2, &nextPageToken)
    }

    var documentBytes: Int { documents.reduce(0) { $0 + $1.count + 4 } }
}

struct BatchGetDocumentsResponseMessage: WireMessage {
    /// An encoded `Document`.
    var found: MessageBytes?
    var missing: String?
    var transaction = MessageBytes()
    var readTime: TimestampMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &found, of: .result)
        coder.field(2, &missing, of: .result)
        coder.field(3, &transaction)
        coder.field(4, &readTime)
    }

    var documentBytes: Int { found?.count ?? 0 }
}

struct BeginTransactionResponseMessage: WireMessage {
    var transaction = MessageBytes()

    mutating func listFields(_ coder: inout some FieldCoder) { coder.field(1, &transaction) }
}

struct CommitResponseMessage: WireMessage {
    var writeResults: [WriteResultMessage] = []
    var commitTime: TimestampMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &writeResults)
        coder.field(2, &commitTime)
    }
}

struct BatchWriteResponseMessage: WireMessage {
    var writeResults: [WriteResultMessage] = []
    var status: [StatusMessage] = []

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &writeResults)
        coder.field(2, &status)
    }
}

struct RunQueryResponseMessage: WireMessage {
    /// An encoded `Document`; empty if the reply has none.
    var document = MessageBytes()
    var transaction = MessageBytes()
    var readTime: TimestampMessage?
    var skippedResults: Int32 = 0
    var done: Bool?
    var explainMetrics: ExplainMetricsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &document)
        coder.field(2, &transaction)
        coder.field(3, &readTime)
        coder.field(4, &skippedResults)
        coder.field(6, &done)
        coder.field(11, &explainMetrics)
    }

    var documentBytes: Int { document.count }
}

struct RunAggregationQueryResponseMessage: WireMessage {
    /// An `AggregationResult`, which has the layout of a document's fields; empty if the reply has
    /// none, because every result has at least one value.
    var result = MessageBytes()
    var transaction = MessageBytes()
    var readTime: TimestampMessage?
    var explainMetrics: ExplainMetricsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &result)
        coder.field(2, &transaction)
        coder.field(3, &readTime)
        coder.field(10, &explainMetrics)
    }
}

struct PartitionQueryResponseMessage: WireMessage {
    var partitions: [CursorMessage] = []
    var nextPageToken = ""

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &partitions)
        coder.field(2, &nextPageToken)
    }
}

struct ListCollectionIDsResponseMessage: WireMessage {
    var collectionIDs: [String] = []
    var nextPageToken = ""

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &collectionIDs)
        coder.field(2, &nextPageToken)
    }
}
