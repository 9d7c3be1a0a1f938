extension MessageSchema {
    /// Documents, values, writes, targets, and other messages of calls.
    static let data: [MessageType: MessageSchema] = [
        .target: MessageSchema(
            "google.firestore.v1.Target",
            .init("query", 2, .message(.targetQueryTarget), of: "target_type"),
            .init("documents", 3, .message(.targetDocumentsTarget), of: "target_type"),
            .init("resume_token", 4, .bytes, of: "resume_type"),
            .init("read_time", 11, .timestamp, of: "resume_type"),
            .init("target_id", 5, .int32),
            .init("once", 6, .bool),
            .init("expected_count", 12, .wrapped(.int32))),
        .targetDocumentsTarget: MessageSchema(
            "google.firestore.v1.Target.DocumentsTarget",
            .init("documents", 2, .text, isRepeated: true)),
        .targetQueryTarget: MessageSchema(
            "google.firestore.v1.Target.QueryTarget",
            .init("parent", 1, .text),
            .init("structured_query", 2, .message(.structuredQuery), of: "query_type")),
        .targetChange: MessageSchema(
            "google.firestore.v1.TargetChange",
            .init("target_change_type", 1, .enumeration(.targetChangeTargetChangeType)),
            .init("target_ids", 2, .int32, isRepeated: true),
            .init("cause", 3, .message(.status)),
            .init("resume_token", 4, .bytes),
            .init("read_time", 6, .timestamp)),
        .cursor: MessageSchema(
            "google.firestore.v1.Cursor",
            .init("values", 1, .message(.value), isRepeated: true),
            .init("before", 2, .bool)),
        .write: MessageSchema(
            "google.firestore.v1.Write",
            .init("update", 1, .message(.document), of: "operation"),
            .init("delete", 2, .text, of: "operation"),
            .init("verify", 5, .text, of: "operation"),
            .init("transform", 6, .message(.documentTransform), of: "operation"),
            .init("update_mask", 3, .message(.documentMask)),
            .init("current_document", 4, .message(.precondition)),
            .init(
                "update_transforms", 7, .message(.documentTransformFieldTransform), isRepeated: true
            )),
        .documentTransform: MessageSchema(
            "google.firestore.v1.DocumentTransform",
            .init("document", 1, .text),
            .init(
                "field_transforms", 2, .message(.documentTransformFieldTransform), isRepeated: true)
        ),
        .documentTransformFieldTransform: MessageSchema(
            "google.firestore.v1.DocumentTransform.FieldTransform",
            .init("field_path", 1, .text),
            .init(
                "set_to_server_value", 2, .enumeration(.documentTransformFieldTransformServerValue),
                of: "transform_type"),
            .init("increment", 3, .message(.value), of: "transform_type"),
            .init("maximum", 4, .message(.value), of: "transform_type"),
            .init("minimum", 5, .message(.value), of: "transform_type"),
            .init("append_missing_elements", 6, .message(.arrayValue), of: "transform_type"),
            .init("remove_all_from_array", 7, .message(.arrayValue), of: "transform_type")),
        .writeResult: MessageSchema(
            "google.firestore.v1.WriteResult",
            .init("update_time", 1, .timestamp),
            .init("transform_results", 2, .message(.value), isRepeated: true)),
        .documentChange: MessageSchema(
            "google.firestore.v1.DocumentChange",
            .init("document", 1, .message(.document)),
            .init("target_ids", 5, .int32, isRepeated: true),
            .init("removed_target_ids", 6, .int32, isRepeated: true)),
        .documentDelete: MessageSchema(
            "google.firestore.v1.DocumentDelete",
            .init("document", 1, .text),
            .init("read_time", 4, .timestamp),
            .init("removed_target_ids", 6, .int32, isRepeated: true)),
        .documentRemove: MessageSchema(
            "google.firestore.v1.DocumentRemove",
            .init("document", 1, .text),
            .init("removed_target_ids", 2, .int32, isRepeated: true),
            .init("read_time", 4, .timestamp)),
        .existenceFilter: MessageSchema(
            "google.firestore.v1.ExistenceFilter",
            .init("target_id", 1, .int32),
            .init("count", 2, .int32),
            .init("unchanged_names", 3, .message(.bloomFilter))),
        .documentMask: MessageSchema(
            "google.firestore.v1.DocumentMask",
            .init("field_paths", 1, .text, isRepeated: true)),
        .precondition: MessageSchema(
            "google.firestore.v1.Precondition",
            .init("exists", 1, .bool, of: "condition_type"),
            .init("update_time", 2, .timestamp, of: "condition_type")),
        .transactionOptions: MessageSchema(
            "google.firestore.v1.TransactionOptions",
            .init("read_only", 2, .message(.transactionOptionsReadOnly), of: "mode"),
            .init("read_write", 3, .message(.transactionOptionsReadWrite), of: "mode")),
        .transactionOptionsReadWrite: MessageSchema(
            "google.firestore.v1.TransactionOptions.ReadWrite",
            .init("retry_transaction", 1, .bytes),
            .init("concurrency_mode", 2, .enumeration(.transactionOptionsConcurrencyMode))),
        .transactionOptionsReadOnly: MessageSchema(
            "google.firestore.v1.TransactionOptions.ReadOnly",
            .init("read_time", 2, .timestamp, of: "consistency_selector")),
        .requestOptions: MessageSchema(
            "google.firestore.v1.RequestOptions",
            .init("request_tags", 1, .text, isRepeated: true)),
        .explainOptions: MessageSchema(
            "google.firestore.v1.ExplainOptions",
            .init("analyze", 1, .bool)),
        .explainMetrics: MessageSchema(
            "google.firestore.v1.ExplainMetrics",
            .init("plan_summary", 1, .message(.planSummary)),
            .init("execution_stats", 2, .message(.executionStats))),
        .planSummary: MessageSchema(
            "google.firestore.v1.PlanSummary",
            .init("indexes_used", 1, .structure, isRepeated: true)),
        .executionStats: MessageSchema(
            "google.firestore.v1.ExecutionStats",
            .init("results_returned", 1, .int64),
            .init("execution_duration", 3, .duration),
            .init("read_operations", 4, .int64),
            .init("debug_stats", 5, .structure)),
        .bitSequence: MessageSchema(
            "google.firestore.v1.BitSequence",
            .init("bitmap", 1, .bytes),
            .init("padding", 2, .int32)),
        .bloomFilter: MessageSchema(
            "google.firestore.v1.BloomFilter",
            .init("bits", 1, .message(.bitSequence)),
            .init("hash_count", 2, .int32)),
        .document: MessageSchema(
            "google.firestore.v1.Document",
            .init("name", 1, .text),
            .init("fields", 2, .map(.value)),
            .init("create_time", 3, .timestamp),
            .init("update_time", 4, .timestamp)),
        .value: MessageSchema(
            "google.firestore.v1.Value",
            .init("null_value", 11, .null, of: "value_type"),
            .init("boolean_value", 1, .bool, of: "value_type"),
            .init("integer_value", 2, .int64, of: "value_type"),
            .init("double_value", 3, .double, of: "value_type"),
            .init("timestamp_value", 10, .timestamp, of: "value_type"),
            .init("string_value", 17, .text, of: "value_type"),
            .init("bytes_value", 18, .bytes, of: "value_type"),
            .init("reference_value", 5, .text, of: "value_type"),
            .init("geo_point_value", 8, .message(.latLng), of: "value_type"),
            .init("array_value", 9, .message(.arrayValue), of: "value_type"),
            .init("map_value", 6, .message(.mapValue), of: "value_type"),
            .init("field_reference_value", 19, .text, of: "value_type"),
            .init("variable_reference_value", 22, .text, of: "value_type"),
            .init("function_value", 20, .message(.function), of: "value_type"),
            .init("pipeline_value", 21, .message(.pipeline), of: "value_type")),
        .arrayValue: MessageSchema(
            "google.firestore.v1.ArrayValue",
            .init("values", 1, .message(.value), isRepeated: true)),
        .mapValue: MessageSchema(
            "google.firestore.v1.MapValue",
            .init("fields", 1, .map(.value))),
        .aggregationResult: MessageSchema(
            "google.firestore.v1.AggregationResult",
            .init("aggregate_fields", 2, .map(.value))),
        .status: MessageSchema(
            "google.rpc.Status",
            .init("code", 1, .int32),
            .init("message", 2, .text),
            .init("details", 3, .any, isRepeated: true)),
        .errorInfo: MessageSchema(
            "google.rpc.ErrorInfo",
            .init("reason", 1, .text),
            .init("domain", 2, .text),
            .init("metadata", 3, .textMap)),
        .help: MessageSchema(
            "google.rpc.Help",
            .init("links", 1, .message(.helpLink), isRepeated: true)),
        .helpLink: MessageSchema(
            "google.rpc.Help.Link",
            .init("description", 1, .text),
            .init("url", 2, .text)),
        .badRequest: MessageSchema(
            "google.rpc.BadRequest",
            .init("field_violations", 1, .message(.badRequestFieldViolation), isRepeated: true)),
        .badRequestFieldViolation: MessageSchema(
            "google.rpc.BadRequest.FieldViolation",
            .init("field", 1, .text),
            .init("description", 2, .text),
            .init("reason", 3, .text),
            .init("localized_message", 4, .message(.localizedMessage))),
        .localizedMessage: MessageSchema(
            "google.rpc.LocalizedMessage",
            .init("locale", 1, .text),
            .init("message", 2, .text)),
        .latLng: MessageSchema(
            "google.type.LatLng",
            .init("latitude", 1, .double),
            .init("longitude", 2, .double)),
    ]
}
