/// A message's fields, for protobuf's JSON.
struct MessageSchema: Sendable {
    /// The name, as in `google.firestore.v1.Document`.
    let name: String
    let fields: [FieldSchema]
    /// The index of each field, by its name in JSON and by its name in the protocol: both are read.
    private let indexByName: [String: Int]
    private let indexByNumber: [UInt64: Int]

    init(_ name: String, _ fields: FieldSchema...) {
        self.name = name
        self.fields = fields
        var byName: [String: Int] = [:]
        var byNumber: [UInt64: Int] = [:]
        for (index, field) in fields.enumerated() {
            byName[field.jsonName] = index
            byName[field.name] = index
            byNumber[field.number] = index
        }
        indexByName = byName
        indexByNumber = byNumber
    }

    func field(named name: String) -> FieldSchema? { indexByName[name].map { fields[$0] } }

    func field(numbered number: UInt64) -> FieldSchema? {
        indexByNumber[number].map { fields[$0] }
    }

    /// The schema of each message type, in the order of the types.
    private static let all: [MessageSchema] = {
        let parts = calls.merging(queries) { first, _ in first }
            .merging(data) { first, _ in first }
            .merging(pipelines) { first, _ in first }
        return MessageType.allCases.map { type in
            guard let schema = parts[type] else {
                preconditionFailure("no table has the fields of \(type)")
            }
            return schema
        }
    }()

    static func of(_ type: MessageType) -> MessageSchema { all[type.rawValue] }
}

struct FieldSchema: Sendable {
    /// The name in the protocol, as in `read_time`.
    let name: String
    /// The name in JSON, as in `readTime`.
    let jsonName: String
    let number: UInt64
    let kind: FieldKind
    let isRepeated: Bool
    /// The group of fields of which at most one is set; nil for none.
    let oneof: String?

    init(
        _ name: String, _ number: UInt64, _ kind: FieldKind, isRepeated: Bool = false,
        of oneof: String? = nil
    ) {
        self.name = name
        self.number = number
        self.kind = kind
        self.isRepeated = isRepeated
        self.oneof = oneof
        var isUpper = false
        jsonName = name.reduce(into: "") { result, character in
            if character == "_" {
                isUpper = true
            } else {
                result += isUpper ? character.uppercased() : String(character)
                isUpper = false
            }
        }
    }
}

indirect enum FieldKind: Sendable {
    case text, bytes, bool, int32, int64, double
    case enumeration(EnumType)
    case message(MessageType)
    /// A map from texts to messages.
    case map(MessageType)
    /// A map from texts to texts.
    case textMap
    case timestamp, duration
    /// A number that can be absent: `Int32Value` and similar types.
    case wrapped(FieldKind)
    /// The type `NullValue`.
    case null
    case any
    /// The type `google.protobuf.Struct`: any JSON object.
    case structure

    /// The name of the type in errors of protobuf's JSON.
    var typeName: String {
        switch self {
        case .text: "TYPE_STRING"
        case .bytes: "TYPE_BYTES"
        case .bool: "TYPE_BOOL"
        case .int32: "TYPE_INT32"
        case .int64: "TYPE_INT64"
        case .double: "TYPE_DOUBLE"
        case .enumeration(let type): Self.url(type.schema.name)
        case .message(let type): Self.url(MessageSchema.of(type).name)
        case .map, .textMap: "Map"
        case .timestamp: Self.url("google.protobuf.Timestamp")
        case .duration: Self.url("google.protobuf.Duration")
        case .wrapped(.int32): Self.url("google.protobuf.Int32Value")
        case .wrapped(.int64): Self.url("google.protobuf.Int64Value")
        case .wrapped: Self.url("google.protobuf.DoubleValue")
        case .null: Self.url("google.protobuf.NullValue")
        case .any: Self.url("google.protobuf.Any")
        case .structure: Self.url("google.protobuf.Struct")
        }
    }

    static let urlPrefix = "type.googleapis.com/"

    private static func url(_ name: String) -> String { urlPrefix + name }
}

/// The messages of calls and streams.
enum MessageType: Int, CaseIterable, Sendable {
    case getDocumentRequest, listDocumentsRequest, listDocumentsResponse
    case createDocumentRequest, updateDocumentRequest, deleteDocumentRequest
    case batchGetDocumentsRequest, batchGetDocumentsResponse, beginTransactionRequest
    case beginTransactionResponse, commitRequest, commitResponse, rollbackRequest
    case runQueryRequest, runQueryResponse, runAggregationQueryRequest
    case runAggregationQueryResponse, partitionQueryRequest, partitionQueryResponse
    case writeRequest, writeResponse, listenRequest, listenResponse, target
    case targetDocumentsTarget, targetQueryTarget, targetChange, listCollectionIdsRequest
    case listCollectionIdsResponse, batchWriteRequest, batchWriteResponse, structuredQuery
    case structuredQueryCollectionSelector, structuredQueryFilter
    case structuredQueryCompositeFilter, structuredQueryFieldFilter
    case structuredQueryUnaryFilter, structuredQueryOrder, structuredQueryFieldReference
    case structuredQueryProjection, structuredQueryFindNearest, structuredAggregationQuery
    case structuredAggregationQueryAggregation, structuredAggregationQueryAggregationCount
    case structuredAggregationQueryAggregationSum, structuredAggregationQueryAggregationAvg
    case cursor, write, documentTransform, documentTransformFieldTransform, writeResult
    case documentChange, documentDelete, documentRemove, existenceFilter, documentMask
    case precondition, transactionOptions, transactionOptionsReadWrite
    case transactionOptionsReadOnly, requestOptions, explainOptions, explainMetrics
    case planSummary, executionStats, bitSequence, bloomFilter, document, value, arrayValue
    case mapValue, aggregationResult, status, errorInfo, help, helpLink, badRequest
    case badRequestFieldViolation, localizedMessage, latLng, executePipelineRequest
    case executePipelineResponse, structuredPipeline, pipeline, pipelineStage, function
    case explainStats
}
