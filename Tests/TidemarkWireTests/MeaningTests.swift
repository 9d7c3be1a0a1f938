import Foundation
import GRPCCore
import SwiftProtobuf
import Testing
import TidemarkModel

@testable import TidemarkWire

/// The meaning of messages for which the model and the wire use different terms.
struct MeaningTests {
    private let names = Names(database)
    private let root = "projects/demo/databases/(default)/documents"

    private func refusal(_ method: RPCMethod, _ message: some Message) -> RPCStatus? {
        do throws(RPCStatus) { _ = try DecodedRequest(method, message.wireBytes) } catch {
            return error
        }
        return nil
    }

    private func query(_ set: (inout PBStructuredQuery) -> Void) throws -> TidemarkModel.Query? {
        let wire = PBRunQueryRequest.with {
            $0.parent = root
            set(&$0.structuredQuery)
        }
        guard case .runQuery(let run) = try DecodedRequest(.runQuery, wire.wireBytes).request else {
            return nil
        }
        return run.query
    }

    @Test func `a legacy transform is a patch of nothing with transforms`() throws {
        let wire = PBCommitRequest.with {
            $0.database = "projects/demo/databases/(default)"
            $0.writes = [
                .with {
                    $0.transform = .with {
                        $0.document = root + "/a/b"
                        $0.fieldTransforms = [
                            .with {
                                $0.fieldPath = "t"
                                $0.setToServerValue = .requestTime
                            }
                        ]
                    }
                }
            ]
        }
        let field = try FieldPath(encoded: "t")
        let mutation = Mutation(
            path: path("a/b"), .patch([:], mask: []),
            transforms: [FieldTransform(field, .serverTimestamp)])
        let decoded = try DecodedRequest(.commit, wire.wireBytes).request
        #expect(decoded == .commit(CommitRequest(mutations: [mutation])))
    }

    @Test func `a target that makes no sense is refused alone, not with its stream`() throws {
        let wire = PBListenRequest.with {
            $0.addTarget.targetID = 7
            $0.addTarget.documents.documents = [root + "/a"]
        }
        let sent = try IncomingMessage.listen(wire.wireBytes)
        guard case .unreadable(7, let cause) = try sent.decode(names) else {
            Issue.record("it was read")
            return
        }
        #expect(cause.code == .invalidArgument && !cause.message.isEmpty)
    }

    @Test func `a query without from reads every document below its parent`() throws {
        let query = try query { _ in }
        #expect(query == Query(collectionID: nil, allDescendants: true))
    }

    @Test func `an order without direction ascends, an empty filter holds for all`() throws {
        let query = try query {
            $0.from = [.with { $0.collectionID = "c" }]
            $0.orderBy = [.with { $0.field.fieldPath = "a" }]
            $0.where.compositeFilter = .init()
        }
        #expect(query?.orders == [Order(try FieldPath(encoded: "a"))])
        #expect(query?.filter == .and([]))
    }

    @Test func `the limit to the last rows is sent as one to the first in flipped order`() throws {
        let field = try FieldPath(encoded: "a")
        let query = Query(collectionID: "c", orders: [Order(field)], limit: .last(3))
        let encoded = try EncodedRequest(.runQuery(RunQueryRequest(query: query)), names)
        let decoded = try DecodedRequest(.runQuery, encoded.bytes).request
        #expect(decoded == .runQuery(RunQueryRequest(query: query.wireForm)))
    }

    @Test func `a vector search that lacks a part is an invalid argument`() throws {
        func nearest(_ change: (inout PBStructuredQuery.FindNearest) -> Void) -> RPCStatus? {
            let vector = Value.vector(VectorValue([1, 2]))
            let wire = PBRunQueryRequest.with {
                $0.parent = root
                $0.structuredQuery.findNearest = .with {
                    $0.vectorField.fieldPath = "v"
                    $0.queryVector = Data(FieldsCodec.encode(vector))
                    $0.distanceMeasure = .cosine
                    $0.limit = 5
                    change(&$0)
                }
            }
            return refusal(.runQuery, wire)
        }
        #expect(nearest { _ in } == nil)
        #expect(nearest { $0.clearVectorField() }?.code == .invalidArgument)
        #expect(nearest { $0.queryVector = Data() }?.code == .invalidArgument)
        #expect(
            nearest { $0.queryVector = Data(FieldsCodec.encode(.integer(1))) }?.code
                == .invalidArgument)
        #expect(nearest { $0.distanceMeasure = .unspecified }?.code == .invalidArgument)
        #expect(nearest { $0.distanceMeasure = .UNRECOGNIZED(9) }?.code == .invalidArgument)
        #expect(nearest { $0.distanceResultField = "a..b" }?.code == .invalidArgument)
    }

    @Test func `a new transaction of a pipeline only reads, unless it says otherwise`() throws {
        func consistency(_ options: PBTransactionOptions) throws -> ReadConsistency? {
            var wire = PipelineEnvelope()
            wire.database = database.name
            wire.consistency = .newTransaction(options.wireBytes)
            let decoded = try DecodedRequest(.executePipeline, wire.bytes)
            guard case .executePipeline(let request) = decoded.request else { return nil }
            return request.consistency
        }
        #expect(try consistency(PBTransactionOptions()) == .newTransaction(.readOnly(at: nil)))
        let writes = PBTransactionOptions.with { $0.readWrite = .init() }
        #expect(try consistency(writes) == .newTransaction(.readWrite(retrying: nil)))
    }

    @Test func `a name of another database is an invalid argument`() {
        let commit = PBCommitRequest.with {
            $0.database = "projects/demo/databases/(default)"
            $0.writes = [.with { $0.delete = "projects/demo/databases/other/documents/a/b" }]
        }
        #expect(refusal(.commit, commit)?.code == .invalidArgument)
        let get = PBGetDocumentRequest.with { $0.name = "bad/path" }
        #expect(
            refusal(.getDocument, get)
                == .invalidArgument("Document name \"bad/path\" lacks \"projects\" at index 0."))
        let parent = root + "/rooms"
        let list = PBListCollectionIdsRequest.with { $0.parent = parent }
        #expect(
            refusal(.listCollectionIDs, list)?.message
                == "Document parent name \"\(parent)\" lacks \"/\" at index \(parent.utf8.count).")
    }

    @Test(arguments: ["a..b", "", "`a"]) func `a bad field path is named`(text: String) {
        let get = PBGetDocumentRequest.with {
            $0.name = root + "/a/b"
            $0.mask.fieldPaths = [text]
        }
        let refused = refusal(.getDocument, get)
        #expect(refused?.code == .invalidArgument)
        #expect(refused?.message.contains(text.isEmpty ? "empty property path" : text) == true)
    }

    @Test func `order clauses are split at commas that no backtick quotes`() throws {
        let orders = try OrderClause.decode("a desc, `b,c` ASC,d.e")
        #expect(orders.map(\.field.segments) == [["a"], ["b,c"], ["d", "e"]])
        #expect(orders.map(\.direction) == [.descending, .ascending, .ascending])
        #expect(throws: RPCStatus.invalidArgument("Invalid order by clause \"a..b\".")) {
            try OrderClause.decode("a..b")
        }
    }

    @Test(arguments: [
        (Duration.milliseconds(1), "1m"), (.microseconds(1), "1m"), (.seconds(90), "90000m"),
        (.seconds(1_000_000), "1000000S"), (.seconds(-1), "0m"),
    ])
    func `a timeout travels in at most eight digits`(duration: Duration, text: String) {
        #expect(Metadata.timeout(duration) == text)
        #expect(Metadata.duration(timeout: text) != nil)
    }

    @Test func `an outbox is bounded, and its end is its last word`() async {
        let outbox = Outbox<Int>(limit: 10)
        #expect(outbox.offer(1, bytes: 100) == .queued)
        #expect(outbox.offer(2, bytes: 1) == .full)
        outbox.fail(with: [3])
        #expect(outbox.offer(4, bytes: 1) == .closed)
        outbox.finish(with: [5])
        #expect(await outbox.next() == [3])
        #expect(await outbox.next() == nil)
    }
}
