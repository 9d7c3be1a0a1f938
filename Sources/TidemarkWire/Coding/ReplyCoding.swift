import Foundation
import SwiftProtobuf
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
            PBBeginTransactionResponse.with { $0.transaction = Data(id) }.wireBytes
        case .commit(let reply):
            PBCommitResponse.with {
                $0.writeResults = reply.results.map(PBWriteResult.init)
                $0.commitTime = reply.commitTime.wire
            }.wireBytes
        case .runQuery(let reply): wire(reply).wireBytes
        case .runAggregationQuery(let reply): wire(reply).wireBytes
        case .listCollectionIDs(let ids, let token):
            PBListCollectionIdsResponse.with {
                $0.collectionIds = ids
                $0.nextPageToken = token
            }.wireBytes
        case .batchWrite(let results):
            PBBatchWriteResponse.with {
                $0.writeResults = results.map { PBWriteResult($0.result) }
                $0.status = results.map { PBStatus($0.status) }
            }.wireBytes
        case .executePipeline(let reply): wire(reply).bytes
        case .partitionQuery(let cursors, let token):
            PBPartitionQueryResponse.with {
                $0.partitions = cursors.map(PBCursor.init)
                $0.nextPageToken = token
            }.wireBytes
        }
    }

    private func wire(_ rows: [ListedDocument], _ token: String) -> PBListDocumentsResponse {
        var wire = PBListDocumentsResponse()
        wire.nextPageToken = token
        wire.documents = rows.map { row in
            row.document.map(names.encode) ?? names.encode(row.path, MapValue())
        }
        return wire
    }

    private func wire(_ result: BatchGetResult) -> PBBatchGetDocumentsResponse {
        var wire = PBBatchGetDocumentsResponse()
        switch result.row {
        case .found(let document): wire.found = names.encode(document)
        case .missing(let path): wire.missing = names.name(path)
        case nil: break
        }
        if let id = result.transaction { wire.transaction = Data(id) }
        wire.readTime = result.readTime.wire
        return wire
    }

    private func wire(_ reply: RunQueryReply) -> PBRunQueryResponse {
        var wire = PBRunQueryResponse()
        if let document = reply.document { wire.document = names.encode(document) }
        if let id = reply.transaction { wire.transaction = Data(id) }
        if let time = reply.readTime { wire.readTime = time.wire }
        wire.skippedResults = Int32(clamping: reply.skippedResults)
        if let metrics = reply.explain { wire.explainMetrics = PBExplainMetrics(metrics) }
        return wire
    }

    private func wire(_ reply: AggregationReply) -> PBRunAggregationQueryResponse {
        var wire = PBRunAggregationQueryResponse()
        // An AggregationResult has the layout of a document's fields.
        if let values = reply.values { wire.result = Data(FieldsCodec.encode(values)) }
        if let id = reply.transaction { wire.transaction = Data(id) }
        wire.readTime = reply.readTime.wire
        if let metrics = reply.explain { wire.explainMetrics = PBExplainMetrics(metrics) }
        return wire
    }
}

// MARK: - What a client receives

extension ReplyCoder {
    /// Decodes one message of an answer.
    func reply(to method: RPCMethod, _ bytes: [UInt8]) throws(RPCStatus) -> Reply {
        switch method {
        case .getDocument, .createDocument, .updateDocument:
            .document(try names.document(Data(bytes)))
        case .deleteDocument, .rollback: .empty
        case .listDocuments: try listed(PBListDocumentsResponse(wire: bytes))
        case .batchGetDocuments: try row(PBBatchGetDocumentsResponse(wire: bytes))
        case .beginTransaction:
            .beginTransaction(try PBBeginTransactionResponse(wire: bytes).transaction.array)
        case .commit: try commit(PBCommitResponse(wire: bytes))
        case .runQuery: try part(PBRunQueryResponse(wire: bytes))
        case .runAggregationQuery: try figures(PBRunAggregationQueryResponse(wire: bytes))
        case .listCollectionIDs: try ids(PBListCollectionIdsResponse(wire: bytes))
        case .batchWrite: try batch(PBBatchWriteResponse(wire: bytes))
        case .partitionQuery: try partitions(PBPartitionQueryResponse(wire: bytes))
        case .executePipeline: try rows(bytes)
        case .listen, .write: throw .malformed
        }
    }

    private func listed(_ wire: PBListDocumentsResponse) throws(RPCStatus) -> Reply {
        var rows: [ListedDocument] = []
        rows.reserveCapacity(wire.documents.count)
        for data in wire.documents {
            let row = try Names.decode(data)
            rows.append(
                ListedDocument(
                    path: try names.document(row.name), document: try names.document(row)))
        }
        return .listDocuments(rows, nextPageToken: wire.nextPageToken)
    }

    private func row(_ wire: PBBatchGetDocumentsResponse) throws(RPCStatus) -> Reply {
        let row: BatchGetResult.Row? =
            switch wire.result {
            case nil: nil
            case .found(let data): .found(try names.document(data))
            case .missing(let name): .missing(try names.document(name))
            }
        return .batchGetDocuments(
            BatchGetResult(
                row: row, transaction: wire.transaction.nonEmptyArray,
                readTime: try Timestamp(wire: wire.readTime)))
    }

    private func commit(_ wire: PBCommitResponse) throws(RPCStatus) -> Reply {
        .commit(
            CommitReply(
                results: try PBWriteResult.decode(wire.writeResults),
                commitTime: try Timestamp(wire: wire.commitTime)))
    }

    private func part(_ wire: PBRunQueryResponse) throws(RPCStatus) -> Reply {
        .runQuery(
            RunQueryReply(
                document: wire.document.isEmpty ? nil : try names.document(wire.document),
                transaction: wire.transaction.nonEmptyArray,
                readTime: wire.hasReadTime ? try Timestamp(wire: wire.readTime) : nil,
                skippedResults: Int(wire.skippedResults),
                explain: wire.hasExplainMetrics ? wire.explainMetrics.decoded : nil))
    }

    private func figures(_ wire: PBRunAggregationQueryResponse) throws(RPCStatus) -> Reply {
        // An empty result means that there is no result, because every result has at least one
        // value.
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
                explain: wire.hasExplainMetrics ? wire.explainMetrics.decoded : nil))
    }

    private func ids(_ wire: PBListCollectionIdsResponse) -> Reply {
        .listCollectionIDs(wire.collectionIds, nextPageToken: wire.nextPageToken)
    }

    private func batch(_ wire: PBBatchWriteResponse) throws(RPCStatus) -> Reply {
        guard wire.status.count == wire.writeResults.count else { throw .malformed }
        let results = try PBWriteResult.decode(wire.writeResults)
        return .batchWrite(
            zip(wire.status, results).map { BatchWriteResult(status: $0.decoded, result: $1) })
    }

    private func partitions(_ wire: PBPartitionQueryResponse) throws(RPCStatus) -> Reply {
        var cursors: [Cursor] = []
        for cursor in wire.partitions { cursors.append(try cursor.decoded()) }
        return .partitionQuery(cursors, nextPageToken: wire.nextPageToken)
    }
}
