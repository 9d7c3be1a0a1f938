/// A request to run a pipeline, which only databases of the Enterprise edition accept.
public struct ExecutePipelineRequest: Hashable, Sendable {
    /// The pipeline; nil if the request has none, which the server refuses.
    public var pipeline: Pipeline?
    /// The options of the whole pipeline, for example `explain_options`.
    public var options: [Pipeline.Entry]
    public var consistency: ReadConsistency
    /// If true, the transaction of the request is committed after the pipeline has run.
    public var commitsTransaction: Bool

    public init(
        pipeline: Pipeline?, options: [Pipeline.Entry] = [],
        consistency: ReadConsistency = .latest, commitsTransaction: Bool = false
    ) {
        self.pipeline = pipeline
        self.options = options
        self.consistency = consistency
        self.commitsTransaction = commitsTransaction
    }
}

/// A part of a pipeline's answer. An answer without rows consists of one part without rows.
public struct ExecutePipelineReply: Hashable, Sendable {
    /// The transaction that the request began, only in the first part.
    public var transaction: TransactionID?
    public var rows: [Row]
    /// The read time of the rows.
    public var executionTime: Timestamp?
    /// The explanation in the requested form, only in the last part.
    public var explanation: String?

    public init(
        transaction: TransactionID? = nil, rows: [Row] = [],
        executionTime: Timestamp? = nil, explanation: String? = nil
    ) {
        self.transaction = transaction
        self.rows = rows
        self.executionTime = executionTime
        self.explanation = explanation
    }
}

extension ExecutePipelineReply {
    /// A row of a pipeline's answer.
    public struct Row: Hashable, Sendable {
        /// The document of the row; nil for a row that no longer belongs to a document.
        public var path: DocumentPath?
        public var contents: EncodedFields
        public var createTime: Timestamp?
        public var updateTime: Timestamp?

        public init(
            path: DocumentPath? = nil, contents: EncodedFields, createTime: Timestamp? = nil,
            updateTime: Timestamp? = nil
        ) {
            self.path = path
            self.contents = contents
            self.createTime = createTime
            self.updateTime = updateTime
        }

        /// The decoded contents. Decodes all of them at each call, so keep the result.
        public var fields: MapValue { contents.decoded }
    }
}
