import TidemarkModel

/// A received request with the database that it names.
struct DecodedRequest {
    let database: DatabaseID
    let request: Request
    /// The request's share of the budget; nil for a small request, and without a budget.
    let memory: BodyBudget.Share?

    /// - Parameter budget: Limits the memory of decoded requests; nil limits nothing.
    /// - Throws: `INVALID_ARGUMENT`, or `UNIMPLEMENTED` for requests that the model does not
    ///   support; never `INTERNAL`, which clients would retry. `UNAVAILABLE` if the budget has no
    ///   room.
    init(
        _ method: RPCMethod, _ bytes: [UInt8], budget: BodyBudget? = nil
    ) throws(RPCStatus) {
        try RequestParts.check(method, bytes)
        memory = try budget?.share(for: method, bytes)
        let parsed: (DatabaseID, Request) =
            switch method {
            case .getDocument: try GetDocumentRequestMessage(wire: bytes).decoded()
            case .listDocuments: try ListDocumentsRequestMessage(wire: bytes).decoded()
            case .createDocument: try CreateDocumentRequestMessage(wire: bytes).decoded()
            case .updateDocument: try UpdateDocumentRequestMessage(wire: bytes).decoded()
            case .deleteDocument: try DeleteDocumentRequestMessage(wire: bytes).decoded()
            case .batchGetDocuments: try BatchGetDocumentsRequestMessage(wire: bytes).decoded()
            case .beginTransaction: try BeginTransactionRequestMessage(wire: bytes).decoded()
            case .commit: try CommitRequestMessage(wire: bytes).decoded()
            case .rollback: try RollbackRequestMessage(wire: bytes).decoded()
            case .runQuery: try RunQueryRequestMessage(wire: bytes).decoded()
            case .runAggregationQuery:
                try RunAggregationQueryRequestMessage(wire: bytes).decoded()
            case .partitionQuery: try PartitionQueryRequestMessage(wire: bytes).decoded()
            case .listCollectionIDs: try ListCollectionIDsRequestMessage(wire: bytes).decoded()
            case .batchWrite: try BatchWriteRequestMessage(wire: bytes).decoded()
            case .executePipeline:
                try ExecutePipelineRequest.parsed(bytes)
            case .listen, .write: preconditionFailure("a stream's messages are read one by one")
            }
        (database, request) = parsed
    }
}

private typealias Parsed = (DatabaseID, Request)

extension ExecutePipelineRequest {
    fileprivate static func parsed(_ bytes: [UInt8]) throws(RPCStatus) -> Parsed {
        let (database, request) = try decode(bytes)
        return (database, .executePipeline(request))
    }
}

extension GetDocumentRequestMessage {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: name))
        let get = GetDocumentRequest(
            path: try names.document(name), mask: try mask.paths(),
            consistency: try consistency.decoded())
        return (names.database, .getDocument(get))
    }
}

extension ListDocumentsRequestMessage {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: parent, .parent))
        if pageSize < 0 { throw .invalidArgument("Page size must be nonnegative.") }
        if !collectionID.isEmpty { try DocumentPath.checkCollectionID(collectionID) }
        let list = ListDocumentsRequest(
            parent: try names.parent(parent),
            collectionID: collectionID.isEmpty ? nil : collectionID,
            pageSize: Int(pageSize), pageToken: pageToken,
            orders: try OrderClause.decode(orderBy), mask: try mask.paths(),
            showMissing: showMissing, consistency: try consistency.decoded())
        return (names.database, .listDocuments(list))
    }
}

extension CreateDocumentRequestMessage {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: parent, .parent))
        try DocumentPath.checkCollectionID(collectionID)
        let prefix = try names.parent(parent).map { $0.text + "/" } ?? ""
        let id = documentID.isEmpty ? nil : documentID
        let collection = try naming { () throws(InvalidPath) in
            try CollectionPath(prefix + collectionID)
        }
        if let id {
            if id.utf8.contains(UInt8(ascii: "/")) { throw RPCStatus(InvalidPath.slash(in: id)) }
            _ = try naming { () throws(InvalidPath) in try collection.document(id) }
        }
        let create = CreateDocumentRequest(
            collection: collection, documentID: id,
            fields: try Names.decodeFields(document).fields, mask: try mask.paths())
        return (names.database, .createDocument(create))
    }
}

extension UpdateDocumentRequestMessage {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let (name, fields) = try Names.decodeFields(document)
        let names = Names(try Names.database(of: name))
        let update = UpdateDocumentRequest(
            path: try names.document(name), fields: fields, updateMask: try updateMask.paths(),
            mask: try mask.paths(), precondition: try currentDocument.decoded())
        return (names.database, .updateDocument(update))
    }
}

extension DeleteDocumentRequestMessage {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: name))
        return (
            names.database,
            .deleteDocument(try names.document(name), try currentDocument.decoded())
        )
    }
}

extension BatchGetDocumentsRequestMessage {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(database))
        var paths: [DocumentPath] = []
        paths.reserveCapacity(documents.count)
        for name in documents { paths.append(try names.document(name)) }
        let get = BatchGetDocumentsRequest(
            paths: paths, mask: try mask.paths(), consistency: try consistency.decoded())
        return (names.database, .batchGetDocuments(get))
    }
}

extension BeginTransactionRequestMessage {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let sent = options ?? TransactionOptionsMessage()
        return (try Names.database(database), .beginTransaction(try sent.decoded()))
    }
}

extension CommitRequestMessage {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(database))
        let commit = CommitRequest(
            mutations: try WriteCoder(names).mutations(writes),
            transaction: transaction.nonEmptyArray)
        return (names.database, .commit(commit))
    }
}

extension RollbackRequestMessage {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        (try Names.database(database), .rollback(transaction.array))
    }
}

extension BatchWriteRequestMessage {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(database))
        return (
            names.database,
            .batchWrite(BatchWriteRequest(mutations: try WriteCoder(names).mutations(writes)))
        )
    }
}

extension RunQueryRequestMessage {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: parent, .parent))
        guard let structuredQuery else {
            throw .invalidArgument("only structured queries are supported")
        }
        let run = RunQueryRequest(
            query: try Query(parent: parent, structuredQuery, names),
            consistency: try consistency.decoded(), explain: explainOptions?.decoded)
        return (names.database, .runQuery(run))
    }
}

extension RunAggregationQueryRequestMessage {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: parent, .parent))
        guard let wire = structuredAggregationQuery else {
            throw .invalidArgument("Only structured aggregation queries are supported.")
        }
        var aggregations: [Aggregation] = []
        for aggregation in wire.aggregations { aggregations.append(try aggregation.decoded()) }
        // A missing query counts every document under the parent, like an empty query.
        let query = wire.structuredQuery ?? StructuredQueryMessage()
        let run = RunAggregationQueryRequest(
            query: try Query(parent: parent, query, names), aggregations: aggregations,
            consistency: try consistency.decoded(), explain: explainOptions?.decoded)
        return (names.database, .runAggregationQuery(run))
    }
}

extension PartitionQueryRequestMessage {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: parent, .parent))
        guard let structuredQuery else { throw .invalidArgument("Query is required.") }
        if pageSize < 0 { throw .invalidArgument("Page size must be nonnegative.") }
        let partition = PartitionQueryRequest(
            query: try Query(parent: parent, structuredQuery, names),
            partitionCount: partitionCount, pageSize: Int(pageSize), pageToken: pageToken,
            consistency: try consistency.decoded())
        return (names.database, .partitionQuery(partition))
    }
}

extension ListCollectionIDsRequestMessage {
    fileprivate func decoded() throws(RPCStatus) -> Parsed {
        let names = Names(try Names.database(of: parent, .parent))
        if pageSize < 0 {
            throw .invalidArgument("page_size must be greater than or equal to zero.")
        }
        let list = ListCollectionIDsRequest(
            parent: try names.parent(parent), pageSize: Int(pageSize), pageToken: pageToken,
            consistency: try consistency.decoded())
        return (names.database, .listCollectionIDs(list))
    }
}
