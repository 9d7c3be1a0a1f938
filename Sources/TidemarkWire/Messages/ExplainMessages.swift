// Messages of `google/firestore/v1/query_profile.proto`, and `google.protobuf.Struct`.

struct ExplainOptionsMessage: WireMessage {
    var analyze = false

    mutating func listFields(_ coder: inout some FieldCoder) { coder.field(1, &analyze) }
}

struct ExplainMetricsMessage: WireMessage {
    var planSummary: PlanSummaryMessage?
    var executionStats: ExecutionStatsMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &planSummary)
        coder.field(2, &executionStats)
    }
}

struct PlanSummaryMessage: WireMessage {
    var indexesUsed: [StructMessage] = []

    mutating func listFields(_ coder: inout some FieldCoder) { coder.field(1, &indexesUsed) }
}

struct ExecutionStatsMessage: WireMessage {
    var resultsReturned: Int64 = 0
    var executionDuration: DurationMessage?
    var readOperations: Int64 = 0
    var debugStats: StructMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &resultsReturned)
        coder.field(3, &executionDuration)
        coder.field(4, &readOperations)
        coder.field(5, &debugStats)
    }
}

/// A JSON object.
struct StructMessage: WireMessage {
    var fields: [String: StructValueMessage] = [:]

    mutating func listFields(_ coder: inout some FieldCoder) { coder.field(1, &fields) }
}

/// A JSON value: a `google.protobuf.Value`.
struct StructValueMessage: WireMessage {
    var nullValue: Int32?
    var numberValue: Double?
    var stringValue: String?
    var boolValue: Bool?
    var structValue: StructMessage?
    var listValue: ListValueMessage?

    mutating func listFields(_ coder: inout some FieldCoder) {
        coder.field(1, &nullValue, of: .kind)
        coder.field(2, &numberValue, of: .kind)
        coder.field(3, &stringValue, of: .kind)
        coder.field(4, &boolValue, of: .kind)
        coder.field(5, &structValue, of: .kind)
        coder.field(6, &listValue, of: .kind)
    }
}

struct ListValueMessage: WireMessage {
    var values: [StructValueMessage] = []

    mutating func listFields(_ coder: inout some FieldCoder) { coder.field(1, &values) }
}
