import TidemarkModel

/// An encoded request.
struct EncodedRequest {
    let method: RPCMethod
    let bytes: [UInt8]

    /// - Throws: `INVALID_ARGUMENT` if the protocol cannot express the request, for example a new
    ///   transaction in a method that cannot begin one.
    init(_ request: Request, _ names: Names) throws(RPCStatus) {
        method = request.method
        bytes = try RequestCoder(names: names).bytes(of: request)
    }
}

extension ConsistencyFields {
    /// - Throws: `INVALID_ARGUMENT` for a transaction that the method's request cannot name.
    fileprivate init(
        _ consistency: ReadConsistency, of method: RPCMethod
    ) throws(RPCStatus) {
        self.init(consistency)
        let readsInTransaction = method == .getDocument || method == .listDocuments
        if newTransaction != nil || transaction != nil && !readsInTransaction {
            throw .invalidArgument(
                "\(method.rawValue) cannot read in that transaction or at that time.")
        }
    }
}

/// Makes the protocol's message for each kind of request.
private struct RequestCoder {
    let names: Names

    private var database: String { names.database.name }

    func bytes(of request: Request) throws(RPCStatus) -> [UInt8] {
        switch request {
        case .getDocument(let get): try message(get).wireBytes
        case .listDocuments(let list): try message(list).wireBytes
        case .createDocument(let create): message(create).wireBytes
        case .updateDocument(let update): message(update).wireBytes
        case .deleteDocument(let path, let precondition):
            DeleteDocumentRequestMessage(
                name: names.name(path), currentDocument: PreconditionMessage(precondition)
            ).wireBytes
        case .batchGetDocuments(let get): message(get).wireBytes
        case .beginTransaction(let options):
            BeginTransactionRequestMessage(
                database: database, options: TransactionOptionsMessage(options)
            ).wireBytes
        case .commit(let commit):
            CommitRequestMessage(
                database: database, writes: writes(commit.mutations),
                transaction: MessageBytes(commit.transaction ?? [])
            ).wireBytes
        case .rollback(let id):
            RollbackRequestMessage(database: database, transaction: MessageBytes(id)).wireBytes
        case .batchWrite(let batch):
            BatchWriteRequestMessage(
                database: database, writes: writes(batch.mutations)
            ).wireBytes
        case .runQuery(let run): message(run).wireBytes
        case .runAggregationQuery(let run): message(run).wireBytes
        case .listCollectionIDs(let list): try message(list).wireBytes
        case .partitionQuery(let partition): try message(partition).wireBytes
        case .executePipeline(let run): run.bytes(in: names.database)
        }
    }

    private func writes(_ mutations: [Mutation]) -> [WriteMessage] {
        mutations.map(WriteCoder(names).encode)
    }

    private func message(
        _ get: GetDocumentRequest
    ) throws(RPCStatus) -> GetDocumentRequestMessage {
        GetDocumentRequestMessage(
            name: names.name(get.path), mask: get.mask.map(DocumentMaskMessage.init),
            consistency: try ConsistencyFields(get.consistency, of: .getDocument))
    }

    private func message(
        _ list: ListDocumentsRequest
    ) throws(RPCStatus) -> ListDocumentsRequestMessage {
        ListDocumentsRequestMessage(
            parent: names.name(parent: list.parent), collectionID: list.collectionID ?? "",
            pageSize: Int32(clamping: list.pageSize), pageToken: list.pageToken,
            orderBy: OrderClause.encode(list.orders),
            mask: list.mask.map(DocumentMaskMessage.init),
            consistency: try ConsistencyFields(list.consistency, of: .listDocuments),
            showMissing: list.showMissing)
    }

    /// The protocol defines the name of a new document as output only.
    private func message(_ create: CreateDocumentRequest) -> CreateDocumentRequestMessage {
        CreateDocumentRequestMessage(
            parent: names.name(parent: create.collection.parent),
            collectionID: create.collection.id, documentID: create.documentID ?? "",
            document: MessageBytes(EncodedFields(create.fields).bytes),
            mask: create.mask.map(DocumentMaskMessage.init))
    }

    private func message(_ update: UpdateDocumentRequest) -> UpdateDocumentRequestMessage {
        UpdateDocumentRequestMessage(
            document: names.encode(update.path, update.fields),
            updateMask: update.updateMask.map(DocumentMaskMessage.init),
            mask: update.mask.map(DocumentMaskMessage.init),
            currentDocument: PreconditionMessage(update.precondition))
    }

    private func message(_ get: BatchGetDocumentsRequest) -> BatchGetDocumentsRequestMessage {
        BatchGetDocumentsRequestMessage(
            database: database, documents: get.paths.map(names.name),
            mask: get.mask.map(DocumentMaskMessage.init),
            consistency: ConsistencyFields(get.consistency))
    }

    private func message(_ run: RunQueryRequest) -> RunQueryRequestMessage {
        RunQueryRequestMessage(
            parent: names.name(parent: run.query.parent),
            structuredQuery: StructuredQueryMessage(run.query),
            consistency: ConsistencyFields(run.consistency),
            explainOptions: run.explain.map(ExplainOptionsMessage.init))
    }

    private func message(
        _ run: RunAggregationQueryRequest
    ) -> RunAggregationQueryRequestMessage {
        RunAggregationQueryRequestMessage(
            parent: names.name(parent: run.query.parent),
            structuredAggregationQuery: StructuredAggregationQueryMessage(
                structuredQuery: StructuredQueryMessage(run.query),
                aggregations: run.aggregations.map(AggregationMessage.init)),
            consistency: ConsistencyFields(run.consistency),
            explainOptions: run.explain.map(ExplainOptionsMessage.init))
    }

    private func message(
        _ list: ListCollectionIDsRequest
    ) throws(RPCStatus) -> ListCollectionIDsRequestMessage {
        ListCollectionIDsRequestMessage(
            parent: names.name(parent: list.parent), pageSize: Int32(clamping: list.pageSize),
            pageToken: list.pageToken,
            consistency: try ConsistencyFields(list.consistency, of: .listCollectionIDs))
    }

    private func message(
        _ partition: PartitionQueryRequest
    ) throws(RPCStatus) -> PartitionQueryRequestMessage {
        PartitionQueryRequestMessage(
            parent: names.name(parent: partition.query.parent),
            structuredQuery: StructuredQueryMessage(partition.query),
            partitionCount: partition.partitionCount, pageToken: partition.pageToken,
            pageSize: Int32(clamping: partition.pageSize),
            consistency: try ConsistencyFields(partition.consistency, of: .partitionQuery))
    }
}
