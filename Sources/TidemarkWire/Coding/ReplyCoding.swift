import TidemarkModel

/// Encodes a call's replies on a server and decodes them on a client.
struct ReplyCoder {
    let names: Names

    init(_ names: Names) { self.names = names }
}

// MARK: - What a server sends

extension ReplyCoder {
    func encode(_ reply: Reply) -> [UInt8] {
        switch reply {
        case .document(let document): names.encode(document).array
        case .empty: []
        case .listDocuments(let rows, let token): wire(rows, token).wireBytes
        case .batchGetDocuments(let result): wire(result).wireBytes
        case .beginTransaction(let id):
            BeginTransactionResponseMessage(transaction: MessageBytes(id)).wireBytes
        case .commit(let reply):
            CommitResponseMessage(
                writeResults: reply.results.map(WriteResultMessage.init),
                commitTime: reply.commitTime.wire
            ).wireBytes
        case .runQuery(let reply): wire(reply).wireBytes
        case .runAggregationQuery(let reply): wire(reply).wireBytes
        case .listCollectionIDs(let ids, let token):
            ListCollectionIDsResponseMessage(collectionIDs: ids, nextPageToken: token).wireBytes
        case .batchWrite(let results):
            BatchWriteResponseMessage(
                writeResults: results.map { WriteResultMessage($0.result) },
                status: results.map { StatusMessage($0.status) }
            ).wireBytes
        case .executePipeline(let reply): wire(reply).bytes
        case .partitionQuery(let cursors, let token):
            PartitionQueryResponseMessage(
                partitions: cursors.map(CursorMessage.init), nextPageToken: token
            ).wireBytes
        }
    }

    private func wire(_ rows: [ListedDocument], _ token: String) -> ListDocumentsResponseMessage {
        let documents = rows.map { row in
            row.document.map(names.encode) ?? names.encode(row.path, MapValue())
        }
        return ListDocumentsResponseMessage(documents: documents, nextPageToken: token)
    }

    private func wire(_ result: BatchGetResult) -> BatchGetDocumentsResponseMessage {
        var wire = BatchGetDocumentsResponseMessage()
        switch result.row {
        case .found(let document): wire.found = names.encode(document)
        case .missing(let path): wire.missing = names.name(path)
        case nil: break
        }
        wire.transaction = MessageBytes(result.transaction ?? [])
        wire.readTime = result.readTime.wire
        return wire
    }

    private func wire(_ reply: RunQueryReply) -> RunQueryResponseMessage {
        var wire = RunQueryResponseMessage()
        if let document = reply.document { wire.document = names.encode(document) }
        wire.transaction = MessageBytes(reply.transaction ?? [])
        wire.readTime = reply.readTime?.wire
        wire.skippedResults = Int32(clamping: reply.skippedResults)
        wire.explainMetrics = reply.explain.map(ExplainMetricsMessage.init)
        return wire
    }

    private func wire(_ reply: AggregationReply) -> RunAggregationQueryResponseMessage {
        var wire = RunAggregationQueryResponseMessage()
        if let values = reply.values { wire.result = MessageBytes(FieldsCodec.encode(values)) }
        wire.transaction = MessageBytes(reply.transaction ?? [])
        wire.readTime = reply.readTime.wire
        wire.explainMetrics = reply.explain.map(ExplainMetricsMessage.init)
        return wire
    }
}

// MARK: - What a client receives

extension ReplyCoder {
    /// Decodes one message of an answer.
    func reply(to method: RPCMethod, _ bytes: [UInt8]) throws(RPCStatus) -> Reply {
        switch method {
        case .getDocument, .createDocument, .updateDocument:
            .document(try names.document(MessageBytes(bytes)))
        case .deleteDocument, .rollback: .empty
        case .listDocuments: try listed(ListDocumentsResponseMessage(wire: bytes))
        case .batchGetDocuments: try row(BatchGetDocumentsResponseMessage(wire: bytes))
        case .beginTransaction:
            .beginTransaction(
                try BeginTransactionResponseMessage(wire: bytes).transaction.array)
        case .commit: try commit(CommitResponseMessage(wire: bytes))
        case .runQuery: try part(RunQueryResponseMessage(wire: bytes))
        case .runAggregationQuery: try figures(RunAggregationQueryResponseMessage(wire: bytes))
        case .listCollectionIDs: ids(try ListCollectionIDsResponseMessage(wire: bytes))
        case .batchWrite: try batch(BatchWriteResponseMessage(wire: bytes))
        case .partitionQuery: try partitions(PartitionQueryResponseMessage(wire: bytes))
        case .executePipeline: try rows(bytes)
        case .listen, .write: throw .malformed
        }
    }

    private func listed(_ wire: ListDocumentsResponseMessage) throws(RPCStatus) -> Reply {
        var rows: [ListedDocument] = []
        rows.reserveCapacity(wire.documents.count)
        for document in wire.documents {
            let row = try Names.decode(document)
            rows.append(
                ListedDocument(
                    path: try names.document(row.name), document: try names.document(row)))
        }
        return .listDocuments(rows, nextPageToken: wire.nextPageToken)
    }

    private func row(_ wire: BatchGetDocumentsResponseMessage) throws(RPCStatus) -> Reply {
        var row: BatchGetResult.Row?
        if let document = wire.found { row = .found(try names.document(document)) }
        if let name = wire.missing { row = .missing(try names.document(name)) }
        return .batchGetDocuments(
            BatchGetResult(
                row: row, transaction: wire.transaction.nonEmptyArray,
                readTime: try Timestamp(wire: wire.readTime)))
    }

    private func commit(_ wire: CommitResponseMessage) throws(RPCStatus) -> Reply {
        .commit(
            CommitReply(
                results: try WriteResultMessage.decode(wire.writeResults),
                commitTime: try Timestamp(wire: wire.commitTime)))
    }

    private func part(_ wire: RunQueryResponseMessage) throws(RPCStatus) -> Reply {
        .runQuery(
            RunQueryReply(
                document: wire.document.isEmpty ? nil : try names.document(wire.document),
                transaction: wire.transaction.nonEmptyArray,
                readTime: try wire.readTime.decoded(),
                skippedResults: Int(wire.skippedResults),
                explain: wire.explainMetrics?.decoded))
    }

    private func figures(_ wire: RunAggregationQueryResponseMessage) throws(RPCStatus) -> Reply {
        var values: MapValue?
        if !wire.result.isEmpty {
            values = try parsing { () throws(CodecError) in
                try FieldsCodec.decode(wire.result.array)
            }
        }
        return .runAggregationQuery(
            AggregationReply(
                values: values, transaction: wire.transaction.nonEmptyArray,
                readTime: try Timestamp(wire: wire.readTime),
                explain: wire.explainMetrics?.decoded))
    }

    private func ids(_ wire: ListCollectionIDsResponseMessage) -> Reply {
        .listCollectionIDs(wire.collectionIDs, nextPageToken: wire.nextPageToken)
    }

    private func batch(_ wire: BatchWriteResponseMessage) throws(RPCStatus) -> Reply {
        guard wire.status.count == wire.writeResults.count else { throw .malformed }
        let results = try WriteResultMessage.decode(wire.writeResults)
        return .batchWrite(
            zip(wire.status, results).map { BatchWriteResult(status: $0.decoded, result: $1) })
    }

    private func partitions(_ wire: PartitionQueryResponseMessage) throws(RPCStatus) -> Reply {
        var cursors: [Cursor] = []
        for cursor in wire.partitions { cursors.append(try cursor.decoded()) }
        return .partitionQuery(cursors, nextPageToken: wire.nextPageToken)
    }
}
