import TidemarkModel

@testable import TidemarkWire

extension Generator {
    /// Returns a request of each kind.
    mutating func requests() -> [Request] {
        let path = path()
        return [
            .getDocument(
                GetDocumentRequest(path: path, mask: mask(), consistency: consistency(upTo: 2))),
            .listDocuments(
                ListDocumentsRequest(
                    parent: maybe { $0.path() }, collectionID: maybe { $0.id() },
                    pageSize: count(), pageToken: text(), orders: list(upTo: 2) { $0.order() },
                    mask: mask(), showMissing: chance(2), consistency: consistency(upTo: 2))),
            .createDocument(
                CreateDocumentRequest(
                    collection: path.parent, documentID: maybe { $0.id() }, fields: fields(),
                    mask: mask())),
            .updateDocument(
                UpdateDocumentRequest(
                    path: path, fields: fields(), updateMask: mask(), mask: mask(),
                    precondition: precondition())),
            .deleteDocument(path, precondition()),
            .batchGetDocuments(
                BatchGetDocumentsRequest(
                    paths: list(upTo: 3) { $0.path() }, mask: mask(), consistency: consistency())),
            .beginTransaction(transaction()),
            .commit(
                CommitRequest(
                    mutations: list(upTo: 3) { $0.mutation() }, transaction: maybe { $0.token() })),
            .rollback(token()),
            .runQuery(
                RunQueryRequest(
                    query: query(), consistency: consistency(), explain: explainOptions())),
            .runAggregationQuery(
                RunAggregationQueryRequest(
                    query: query(), aggregations: aggregations(), consistency: consistency(),
                    explain: explainOptions())),
            .listCollectionIDs(
                ListCollectionIDsRequest(
                    parent: maybe { $0.path() }, pageSize: count(), pageToken: text(),
                    consistency: consistency(upTo: 1))),
            .batchWrite(BatchWriteRequest(mutations: list(upTo: 3) { $0.mutation() })),
            .partitionQuery(
                PartitionQueryRequest(
                    query: query(), partitionCount: pick([0, 7, .max]), pageSize: count(),
                    pageToken: text(), consistency: consistency(upTo: 1))),
            .executePipeline(executePipeline()),
        ]
    }

    private mutating func explainOptions() -> ExplainOptions? {
        maybe { ExplainOptions(analyze: $0.chance(2)) }
    }

    private mutating func aggregations() -> [Aggregation] {
        [
            Aggregation(alias: text(), .count(upTo: maybe { $0.pick([0, 1, .max]) })),
            Aggregation(alias: text(), .sum(field())),
            Aggregation(alias: text(), .average(field())),
        ]
    }

    /// Returns a reply of each kind, with a method that it answers.
    mutating func replies() -> [(RPCMethod, Reply)] {
        let row: BatchGetResult.Row? = maybe {
            $0.chance(2) ? .found($0.document()) : .missing($0.path())
        }
        return [
            (.getDocument, .document(document())), (.deleteDocument, .empty),
            (
                .listDocuments,
                .listDocuments(list(upTo: 3) { $0.listed() }, nextPageToken: text())
            ),
            (
                .batchGetDocuments,
                .batchGetDocuments(
                    BatchGetResult(row: row, transaction: maybe { $0.token() }, readTime: time()))
            ),
            (.beginTransaction, .beginTransaction(token())),
            (
                .commit,
                .commit(CommitReply(results: list(upTo: 3) { $0.result() }, commitTime: time()))
            ),
            (
                .runQuery,
                .runQuery(
                    RunQueryReply(
                        document: maybe { $0.document() }, transaction: maybe { $0.token() },
                        readTime: maybe { $0.time() }, skippedResults: count(),
                        explain: maybe { $0.explain() }))
            ),
            (
                .runAggregationQuery,
                .runAggregationQuery(
                    AggregationReply(
                        values: maybe { ["field_1": $0.value(depth: 0), "é": .null] },
                        transaction: maybe { $0.token() }, readTime: time(),
                        explain: maybe { $0.explain() }))
            ),
            (
                .listCollectionIDs,
                .listCollectionIDs(list(upTo: 3) { $0.id() }, nextPageToken: text())
            ),
            (
                .batchWrite,
                .batchWrite(
                    list(upTo: 3) { BatchWriteResult(status: $0.status(), result: $0.result()) })
            ),
            (
                .partitionQuery,
                .partitionQuery(list(upTo: 3) { $0.cursor() }, nextPageToken: text())
            ),
            (.executePipeline, .executePipeline(executePipelineReply())),
        ]
    }

    private mutating func listed() -> ListedDocument {
        let document = document()
        return ListedDocument(path: document.path, document: chance(2) ? document : nil)
    }

    mutating func listenRequest() -> ListenRequest {
        if chance(4) { return .remove(targetID: targetID()) }
        let kind: ListenTarget.Kind =
            chance(2) ? .query(query()) : .documents(list(upTo: 3) { $0.path() })
        let target = ListenTarget(
            id: targetID(), kind,
            resume: pick([.fromScratch, .token(token()), .readTime(time())]),
            expectedCount: maybe { $0.targetID() }, once: chance(2))
        return .add(target, labels: chance(2) ? [:] : ["goog-listen-tags": text()])
    }

    mutating func listenResponse() -> ListenResponse {
        let removal = DocumentRemoval(
            path(), removedTargetIDs: targetIDs(), readTime: maybe { $0.time() })
        return switch number(0...4) {
        case 0:
            .targetChange(
                TargetChange(
                    pick([.noChange, .add, .remove, .current, .reset]), targetIDs: targetIDs(),
                    cause: maybe { $0.status() }, resumeToken: bytes(),
                    readTime: maybe { $0.time() }))
        case 1:
            .documentChange(
                DocumentChange(
                    document(), targetIDs: targetIDs(), removedTargetIDs: targetIDs()))
        case 2: .documentDelete(removal)
        case 3: .documentRemove(removal)
        default:
            .existenceFilter(
                ExistenceFilter(
                    targetID: targetID(), count: 3,
                    unchangedNames: maybe {
                        BloomFilterBits(bitmap: $0.bytes(), padding: 3, hashCount: 7)
                    }))
        }
    }

    mutating func writeRequest() -> WriteRequest {
        WriteRequest(
            streamID: text(), streamToken: bytes(), mutations: list(upTo: 3) { $0.mutation() })
    }

    mutating func writeResponse() -> WriteResponse {
        WriteResponse(
            streamID: text(), streamToken: bytes(), results: list(upTo: 3) { $0.result() },
            commitTime: maybe { $0.time() })
    }

    /// Returns the bytes with one kind of transmission error.
    mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        guard !bytes.isEmpty else { return [UInt8(number(0...255))] }
        let position = number(0...bytes.count - 1)
        switch number(0...3) {
        case 0: bytes[position] ^= 1 << number(0...7)
        case 1: bytes.removeSubrange(position...)
        case 2: bytes.insert(UInt8(number(0...255)), at: position)
        default: bytes[position] = UInt8(number(0...255))
        }
        return bytes
    }
}
