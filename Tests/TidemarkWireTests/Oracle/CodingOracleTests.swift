import Foundation
import SwiftProtobuf
import Testing
import TidemarkModel

@testable import TidemarkWire

/// Compares what the coders send with what SwiftProtobuf would send.
struct CodingOracleTests {
    private let names = Names(database)

    /// Returns what SwiftProtobuf makes of the bytes.
    private func canonical(_ message: String, _ bytes: [UInt8]) throws -> [UInt8]? {
        let name = "google.firestore.v1." + message
        return try #require(OraclePair.all.first { $0.name == name }, "\(name)").theirs(bytes)
    }

    @Test(arguments: UInt64(0)..<200)
    func `requests and replies have protobuf's bytes`(seed: UInt64) throws {
        var generator = Generator(seed: seed)
        for request in generator.requests() where request.method != .executePipeline {
            let sent = try EncodedRequest(request, names)
            let message = sent.method.rawValue + "Request"
            #expect(try canonical(message, sent.bytes) == sent.bytes, "seed \(seed): \(message)")
        }
        // These replies are documents, or nothing.
        let others: Set<RPCMethod> = [
            .getDocument, .deleteDocument, .executePipeline,
        ]
        for (method, reply) in generator.replies() where !others.contains(method) {
            let sent = ReplyCoder(names).encode(reply)
            let message = method.rawValue + "Response"
            #expect(try canonical(message, sent) == sent, "seed \(seed): \(message)")
        }
    }

    @Test(arguments: UInt64(0)..<400)
    func `messages of streams have protobuf's bytes`(seed: UInt64) throws {
        var generator = Generator(seed: seed)
        let messages = [
            ("ListenRequest", ListenCoder(names).encode(generator.listenRequest())),
            ("ListenResponse", ListenCoder(names).encode(generator.listenResponse())),
            ("WriteRequest", WriteCoder(names).encode(generator.writeRequest())),
            ("WriteResponse", WriteCoder(names).encode(generator.writeResponse())),
        ]
        for (message, sent) in messages {
            #expect(try canonical(message, sent) == sent, "seed \(seed): \(message)")
        }
    }

    @Test func `operators and directions have the contract's numbers`() throws {
        typealias Operator = PBStructuredQuery.FieldFilter.Operator
        let operators: [Filter.Operator: Operator] = [
            .lessThan: .lessThan, .lessThanOrEqual: .lessThanOrEqual, .greaterThan: .greaterThan,
            .greaterThanOrEqual: .greaterThanOrEqual, .equal: .equal, .notEqual: .notEqual,
            .arrayContains: .arrayContains, .isIn: .in, .arrayContainsAny: .arrayContainsAny,
            .notIn: .notIn,
        ]
        let unary: [Filter.UnaryOperator: PBStructuredQuery.UnaryFilter.Operator] = [
            .isNaN: .isNan, .isNull: .isNull, .isNotNaN: .isNotNan, .isNotNull: .isNotNull,
        ]
        let field = FieldPath(unchecked: ["f"])
        func sent(_ query: TidemarkModel.Query) throws -> PBStructuredQuery {
            let bytes = StructuredQueryMessage(query).wireBytes
            return try PBStructuredQuery(serializedBytes: bytes)
        }
        for op in Filter.Operator.allCases {
            let query = Query(collectionID: "c", filter: .field(field, op, .null))
            #expect(try sent(query).where.fieldFilter.op == operators[op])
        }
        for op in Filter.UnaryOperator.allCases {
            let query = Query(collectionID: "c", filter: .unary(field, op))
            #expect(try sent(query).where.unaryFilter.op == unary[op])
        }
        for (filter, op) in [(Filter.and([]), 1), (.or([]), 2)] {
            let wire = try sent(Query(collectionID: "c", filter: filter))
            #expect(wire.where.compositeFilter.op.rawValue == op)
        }
        let orders = [Order(field, .ascending), Order(field, .descending)]
        #expect(
            try sent(Query(collectionID: "c", orders: orders)).orderBy.map(\.direction)
                == [.ascending, .descending])
    }

    @Test func `measures, modes and changes have the contract's numbers`() throws {
        typealias Measure = PBStructuredQuery.FindNearest.DistanceMeasure
        let measures: [FindNearest.DistanceMeasure: Measure] = [
            .euclidean: .euclidean, .cosine: .cosine, .dotProduct: .dotProduct,
        ]
        for measure in FindNearest.DistanceMeasure.allCases {
            #expect(Int(measure.wireNumber) == measures[measure]?.rawValue)
        }
        typealias Mode = PBTransactionOptions.ConcurrencyMode
        let modes: [(TransactionOptions.ConcurrencyMode, Mode)] = [
            (.standard, .unspecified), (.optimistic, .optimistic), (.pessimistic, .pessimistic),
        ]
        for (mode, expected) in modes {
            let options = TransactionOptions.readWrite(retrying: nil, concurrency: mode)
            let bytes = TransactionOptionsMessage(options).wireBytes
            let sent = try PBTransactionOptions(serializedBytes: bytes)
            #expect(sent.readWrite.concurrencyMode == expected)
            #expect(try TransactionOptionsMessage(wire: bytes).decoded() == options)
        }
        let kinds: [(TargetChange.Kind, PBTargetChange.TargetChangeType)] = [
            (.noChange, .noChange), (.add, .add), (.remove, .remove), (.current, .current),
            (.reset, .reset),
        ]
        for (kind, expected) in kinds {
            let bytes = TargetChangeMessage(TargetChange(kind)).wireBytes
            #expect(try PBTargetChange(serializedBytes: bytes).targetChangeType == expected)
        }
    }

    @Test func `a delay is a RetryInfo`() throws {
        let delay = Duration.milliseconds(1_500)
        let status = RPCStatus(.unavailable, "later", details: [.retryAfter(delay)])
        let bytes = StatusMessage(status).wireBytes
        let sent = try PBStatus(serializedBytes: bytes)
        #expect(sent.details.map(\.typeURL) == ["type.googleapis.com/google.rpc.RetryInfo"])
        // Field 1 of a RetryInfo is a Duration.
        let contents = sent.details[0].value.dropFirst(2)
        #expect(
            try Google_Protobuf_Duration(serializedBytes: contents)
                == Google_Protobuf_Duration(seconds: 1, nanos: 500_000_000))
        #expect(try StatusMessage(wire: bytes).decoded == status)
        let none = StatusMessage(RPCStatus(.unavailable, "", details: [.retryAfter(.zero)]))
        #expect(try StatusMessage(wire: none.wireBytes).decoded.details == [.retryAfter(.zero)])
    }

    @Test(arguments: UInt64(0)..<2_000)
    func `unknown parts of stored writes and queries are found`(seed: UInt64) throws {
        var maker = MessageMaker(seed: seed)
        let write = maker.message("google.firestore.v1.Write", depth: 3)
        #expect(
            try WriteMessage(wire: write).hasUnknownParts
                == PBWrite(serializedBytes: write).hasUnknownParts, "\(write)")
        let query = maker.message("google.firestore.v1.StructuredQuery", depth: 3)
        #expect(
            try StructuredQueryMessage(wire: query).hasUnknownParts
                == PBStructuredQuery(serializedBytes: query).hasUnknownParts, "\(query)")
    }
}

extension PBWrite {
    fileprivate var hasUnknownParts: Bool {
        var all = [unknownFields, updateMask.unknownFields, currentDocument.unknownFields]
        all += [transform.unknownFields]
        all += (updateTransforms + transform.fieldTransforms).map(\.unknownFields)
        return all.contains { !$0.data.isEmpty }
    }
}

extension PBStructuredQuery {
    fileprivate var hasUnknownParts: Bool {
        let all =
            [unknownFields, startAt.unknownFields, endAt.unknownFields]
            + from.map(\.unknownFields)
            + orderBy.flatMap { [$0.unknownFields, $0.field.unknownFields] }
        return all.contains { !$0.data.isEmpty } || hasWhere && self.where.hasUnknownParts
    }
}

extension PBStructuredQuery.Filter {
    fileprivate var hasUnknownParts: Bool {
        if !unknownFields.data.isEmpty { return true }
        return switch filterType {
        case .fieldFilter(let filter): !filter.unknownFields.data.isEmpty
        case .unaryFilter(let filter): !filter.unknownFields.data.isEmpty
        case .compositeFilter(let filter):
            !filter.unknownFields.data.isEmpty || filter.filters.contains(where: \.hasUnknownParts)
        case nil: true
        }
    }
}
