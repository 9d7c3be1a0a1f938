import SwiftProtobuf
import Testing

@testable import TidemarkWire

/// A message of ours and SwiftProtobuf's message of the same name.
struct OraclePair: Sendable, CustomTestStringConvertible {
    /// The name in the contract.
    let name: String
    /// Reads bytes and writes the message; nil if the bytes are refused.
    let ours: @Sendable ([UInt8]) -> [UInt8]?
    /// The same by SwiftProtobuf, without unknown fields and with sorted maps.
    let theirs: @Sendable ([UInt8]) -> [UInt8]?
    /// Returns the names of our properties that the bytes change.
    let changes: @Sendable ([UInt8]) -> [String]

    var testDescription: String { name }

    /// True if a map is somewhere in the message.
    var hasMap: Bool { ProtoSchema.FieldType.message(name).hasMap(in: .contract) }

    init<Ours: WireMessage, Theirs: SwiftProtobuf.Message>(_: Ours.Type, _: Theirs.Type) {
        name = Theirs.protoMessageName
        ours = { bytes in (try? Ours(wire: bytes))?.wireBytes }
        theirs = { bytes in
            var options = BinaryDecodingOptions()
            options.discardUnknownFields = true
            return try? Theirs(serializedBytes: bytes, options: options).canonical
        }
        changes = { bytes in
            guard let message = try? Ours(wire: bytes) else { return [] }
            return Self.differences(Mirror(reflecting: message), Mirror(reflecting: Ours()))
        }
    }

    private static func differences(_ left: Mirror, _ right: Mirror) -> [String] {
        zip(left.children, right.children).flatMap { left, right in
            if left.value is ConsistencyFields {
                return differences(
                    Mirror(reflecting: left.value), Mirror(reflecting: right.value))
            }
            let isEqual = String(reflecting: left.value) == String(reflecting: right.value)
            return isEqual ? [] : [left.label ?? ""]
        }
    }

    static let all = requests + replies + streams + queries + writes + others

    private static let requests = [
        Self(GetDocumentRequestMessage.self, PBGetDocumentRequest.self),
        Self(ListDocumentsRequestMessage.self, PBListDocumentsRequest.self),
        Self(CreateDocumentRequestMessage.self, PBCreateDocumentRequest.self),
        Self(UpdateDocumentRequestMessage.self, PBUpdateDocumentRequest.self),
        Self(DeleteDocumentRequestMessage.self, PBDeleteDocumentRequest.self),
        Self(BatchGetDocumentsRequestMessage.self, PBBatchGetDocumentsRequest.self),
        Self(BeginTransactionRequestMessage.self, PBBeginTransactionRequest.self),
        Self(CommitRequestMessage.self, PBCommitRequest.self),
        Self(RollbackRequestMessage.self, PBRollbackRequest.self),
        Self(BatchWriteRequestMessage.self, PBBatchWriteRequest.self),
        Self(RunQueryRequestMessage.self, PBRunQueryRequest.self),
        Self(RunAggregationQueryRequestMessage.self, PBRunAggregationQueryRequest.self),
        Self(PartitionQueryRequestMessage.self, PBPartitionQueryRequest.self),
        Self(ListCollectionIDsRequestMessage.self, PBListCollectionIdsRequest.self),
    ]

    private static let replies = [
        Self(ListDocumentsResponseMessage.self, PBListDocumentsResponse.self),
        Self(BatchGetDocumentsResponseMessage.self, PBBatchGetDocumentsResponse.self),
        Self(BeginTransactionResponseMessage.self, PBBeginTransactionResponse.self),
        Self(CommitResponseMessage.self, PBCommitResponse.self),
        Self(BatchWriteResponseMessage.self, PBBatchWriteResponse.self),
        Self(RunQueryResponseMessage.self, PBRunQueryResponse.self),
        Self(RunAggregationQueryResponseMessage.self, PBRunAggregationQueryResponse.self),
        Self(PartitionQueryResponseMessage.self, PBPartitionQueryResponse.self),
        Self(ListCollectionIDsResponseMessage.self, PBListCollectionIdsResponse.self),
    ]

    private static let streams = [
        Self(WriteRequestMessage.self, PBWriteRequest.self),
        Self(WriteResponseMessage.self, PBWriteResponse.self),
        Self(ListenRequestMessage.self, PBListenRequest.self),
        Self(ListenResponseMessage.self, PBListenResponse.self),
        Self(TargetMessage.self, PBTarget.self),
        Self(TargetMessage.Query.self, PBTarget.QueryTarget.self),
        Self(TargetMessage.Documents.self, PBTarget.DocumentsTarget.self),
        Self(TargetChangeMessage.self, PBTargetChange.self),
        Self(DocumentChangeMessage.self, PBDocumentChange.self),
        Self(DocumentDeleteMessage.self, PBDocumentDelete.self),
        Self(DocumentRemoveMessage.self, PBDocumentRemove.self),
        Self(ExistenceFilterMessage.self, PBExistenceFilter.self),
        Self(BloomFilterMessage.self, PBBloomFilter.self),
        Self(BitSequenceMessage.self, PBBitSequence.self),
    ]

    private static let queries = [
        Self(StructuredQueryMessage.self, PBStructuredQuery.self),
        Self(ProjectionMessage.self, PBStructuredQuery.Projection.self),
        Self(FieldReferenceMessage.self, PBStructuredQuery.FieldReference.self),
        Self(CollectionSelectorMessage.self, PBStructuredQuery.CollectionSelector.self),
        Self(FilterMessage.self, PBStructuredQuery.Filter.self),
        Self(FilterMessage.Composite.self, PBStructuredQuery.CompositeFilter.self),
        Self(FilterMessage.Field.self, PBStructuredQuery.FieldFilter.self),
        Self(FilterMessage.Unary.self, PBStructuredQuery.UnaryFilter.self),
        Self(OrderMessage.self, PBStructuredQuery.Order.self),
        Self(CursorMessage.self, PBCursor.self),
        Self(FindNearestMessage.self, PBStructuredQuery.FindNearest.self),
        Self(StructuredAggregationQueryMessage.self, PBStructuredAggregationQuery.self),
        Self(AggregationMessage.self, PBStructuredAggregationQuery.Aggregation.self),
        Self(AggregationMessage.Count.self, PBStructuredAggregationQuery.Aggregation.Count.self),
        Self(AggregationMessage.OfField.self, PBStructuredAggregationQuery.Aggregation.Sum.self),
        Self(AggregationMessage.OfField.self, PBStructuredAggregationQuery.Aggregation.Avg.self),
    ]

    private static let writes = [
        Self(WriteMessage.self, PBWrite.self),
        Self(DocumentTransformMessage.self, PBDocumentTransform.self),
        Self(FieldTransformMessage.self, PBDocumentTransform.FieldTransform.self),
        Self(WriteResultMessage.self, PBWriteResult.self),
        Self(DocumentMaskMessage.self, PBDocumentMask.self),
        Self(PreconditionMessage.self, PBPrecondition.self),
        Self(TransactionOptionsMessage.self, PBTransactionOptions.self),
        Self(TransactionOptionsMessage.ReadOnly.self, PBTransactionOptions.ReadOnly.self),
        Self(TransactionOptionsMessage.ReadWrite.self, PBTransactionOptions.ReadWrite.self),
        Self(RequestOptionsMessage.self, PBRequestOptions.self),
    ]

    private static let others = [
        Self(ExplainOptionsMessage.self, PBExplainOptions.self),
        Self(ExplainMetricsMessage.self, PBExplainMetrics.self),
        Self(PlanSummaryMessage.self, PBPlanSummary.self),
        Self(ExecutionStatsMessage.self, PBExecutionStats.self),
        Self(StructMessage.self, Google_Protobuf_Struct.self),
        Self(StructValueMessage.self, Google_Protobuf_Value.self),
        Self(ListValueMessage.self, Google_Protobuf_ListValue.self),
        Self(TimestampMessage.self, Google_Protobuf_Timestamp.self),
        Self(DurationMessage.self, Google_Protobuf_Duration.self),
        Self(WrappedMessage<Int32>.self, Google_Protobuf_Int32Value.self),
        Self(WrappedMessage<Int64>.self, Google_Protobuf_Int64Value.self),
        Self(WrappedMessage<Double>.self, Google_Protobuf_DoubleValue.self),
        Self(AnyMessage.self, Google_Protobuf_Any.self),
        Self(StatusMessage.self, PBStatus.self),
        Self(ErrorInfoMessage.self, PBErrorInfo.self),
        Self(HelpMessage.self, PBHelp.self),
        Self(HelpMessage.Link.self, PBHelp.Link.self),
        Self(BadRequestMessage.self, PBBadRequest.self),
        Self(BadRequestMessage.FieldViolation.self, PBBadRequest.FieldViolation.self),
        Self(BadRequestMessage.LocalizedMessage.self, PBLocalizedMessage.self),
    ]
}

extension SwiftProtobuf.Message {
    /// The message as a client would send it.
    var wireBytes: [UInt8] { try! serializedBytes() }
}
