extension MessageSchema {
    /// The messages of queries.
    static let queries: [MessageType: MessageSchema] = [
        .structuredQuery: MessageSchema(
            "google.firestore.v1.StructuredQuery",
            .init("select", 1, .message(.structuredQueryProjection)),
            .init("from", 2, .message(.structuredQueryCollectionSelector), isRepeated: true),
            .init("where", 3, .message(.structuredQueryFilter)),
            .init("order_by", 4, .message(.structuredQueryOrder), isRepeated: true),
            .init("limit", 5, .wrapped(.int32)),
            .init("offset", 6, .int32),
            .init("start_at", 7, .message(.cursor)),
            .init("end_at", 8, .message(.cursor)),
            .init("find_nearest", 9, .message(.structuredQueryFindNearest))),
        .structuredQueryCollectionSelector: MessageSchema(
            "google.firestore.v1.StructuredQuery.CollectionSelector",
            .init("collection_id", 2, .text),
            .init("all_descendants", 3, .bool)),
        .structuredQueryFilter: MessageSchema(
            "google.firestore.v1.StructuredQuery.Filter",
            .init(
                "composite_filter", 1, .message(.structuredQueryCompositeFilter), of: "filter_type"),
            .init("field_filter", 2, .message(.structuredQueryFieldFilter), of: "filter_type"),
            .init("unary_filter", 3, .message(.structuredQueryUnaryFilter), of: "filter_type")),
        .structuredQueryCompositeFilter: MessageSchema(
            "google.firestore.v1.StructuredQuery.CompositeFilter",
            .init("op", 1, .enumeration(.structuredQueryCompositeFilterOperator)),
            .init("filters", 2, .message(.structuredQueryFilter), isRepeated: true)),
        .structuredQueryFieldFilter: MessageSchema(
            "google.firestore.v1.StructuredQuery.FieldFilter",
            .init("field", 1, .message(.structuredQueryFieldReference)),
            .init("op", 2, .enumeration(.structuredQueryFieldFilterOperator)),
            .init("value", 3, .message(.value))),
        .structuredQueryUnaryFilter: MessageSchema(
            "google.firestore.v1.StructuredQuery.UnaryFilter",
            .init("op", 1, .enumeration(.structuredQueryUnaryFilterOperator)),
            .init("field", 2, .message(.structuredQueryFieldReference), of: "operand_type")),
        .structuredQueryOrder: MessageSchema(
            "google.firestore.v1.StructuredQuery.Order",
            .init("field", 1, .message(.structuredQueryFieldReference)),
            .init("direction", 2, .enumeration(.structuredQueryDirection))),
        .structuredQueryFieldReference: MessageSchema(
            "google.firestore.v1.StructuredQuery.FieldReference",
            .init("field_path", 2, .text)),
        .structuredQueryProjection: MessageSchema(
            "google.firestore.v1.StructuredQuery.Projection",
            .init("fields", 2, .message(.structuredQueryFieldReference), isRepeated: true)),
        .structuredQueryFindNearest: MessageSchema(
            "google.firestore.v1.StructuredQuery.FindNearest",
            .init("vector_field", 1, .message(.structuredQueryFieldReference)),
            .init("query_vector", 2, .message(.value)),
            .init("distance_measure", 3, .enumeration(.structuredQueryFindNearestDistanceMeasure)),
            .init("limit", 4, .wrapped(.int32)),
            .init("distance_result_field", 5, .text),
            .init("distance_threshold", 6, .wrapped(.double))),
        .structuredAggregationQuery: MessageSchema(
            "google.firestore.v1.StructuredAggregationQuery",
            .init("structured_query", 1, .message(.structuredQuery), of: "query_type"),
            .init(
                "aggregations", 3, .message(.structuredAggregationQueryAggregation),
                isRepeated: true)),
        .structuredAggregationQueryAggregation: MessageSchema(
            "google.firestore.v1.StructuredAggregationQuery.Aggregation",
            .init(
                "count", 1, .message(.structuredAggregationQueryAggregationCount), of: "operator"),
            .init("sum", 2, .message(.structuredAggregationQueryAggregationSum), of: "operator"),
            .init("avg", 3, .message(.structuredAggregationQueryAggregationAvg), of: "operator"),
            .init("alias", 7, .text)),
        .structuredAggregationQueryAggregationCount: MessageSchema(
            "google.firestore.v1.StructuredAggregationQuery.Aggregation.Count",
            .init("up_to", 1, .wrapped(.int64))),
        .structuredAggregationQueryAggregationSum: MessageSchema(
            "google.firestore.v1.StructuredAggregationQuery.Aggregation.Sum",
            .init("field", 1, .message(.structuredQueryFieldReference))),
        .structuredAggregationQueryAggregationAvg: MessageSchema(
            "google.firestore.v1.StructuredAggregationQuery.Aggregation.Avg",
            .init("field", 1, .message(.structuredQueryFieldReference))),
    ]

    /// The messages of pipelines.
    static let pipelines: [MessageType: MessageSchema] = [
        .executePipelineRequest: MessageSchema(
            "google.firestore.v1.ExecutePipelineRequest",
            .init("database", 1, .text),
            .init("structured_pipeline", 2, .message(.structuredPipeline), of: "pipeline_type"),
            .init("transaction", 5, .bytes, of: "consistency_selector"),
            .init("new_transaction", 6, .message(.transactionOptions), of: "consistency_selector"),
            .init("read_time", 7, .timestamp, of: "consistency_selector"),
            .init("auto_commit_transaction", 9, .bool),
            .init("request_options", 10, .message(.requestOptions))),
        .executePipelineResponse: MessageSchema(
            "google.firestore.v1.ExecutePipelineResponse",
            .init("transaction", 1, .bytes),
            .init("results", 2, .message(.document), isRepeated: true),
            .init("execution_time", 3, .timestamp),
            .init("explain_stats", 4, .message(.explainStats))),
        .structuredPipeline: MessageSchema(
            "google.firestore.v1.StructuredPipeline",
            .init("pipeline", 1, .message(.pipeline)),
            .init("options", 2, .map(.value))),
        .pipeline: MessageSchema(
            "google.firestore.v1.Pipeline",
            .init("stages", 1, .message(.pipelineStage), isRepeated: true)),
        .pipelineStage: MessageSchema(
            "google.firestore.v1.Pipeline.Stage",
            .init("name", 1, .text),
            .init("args", 2, .message(.value), isRepeated: true),
            .init("options", 3, .map(.value))),
        .function: MessageSchema(
            "google.firestore.v1.Function",
            .init("name", 1, .text),
            .init("args", 2, .message(.value), isRepeated: true),
            .init("options", 3, .map(.value))),
        .explainStats: MessageSchema(
            "google.firestore.v1.ExplainStats",
            .init("data", 1, .any)),
    ]
}
