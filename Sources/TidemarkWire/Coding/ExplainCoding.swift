import SwiftProtobuf
import TidemarkModel

extension PBExplainOptions {
    init(_ options: ExplainOptions) {
        self.init()
        analyze = options.analyze
    }

    var decoded: ExplainOptions { ExplainOptions(analyze: analyze) }
}

extension PBExplainMetrics {
    init(_ metrics: ExplainMetrics) {
        self.init()
        planSummary = .with { summary in
            summary.indexesUsed = metrics.indexesUsed.map { index in
                Google_Protobuf_Struct(fields: [
                    "query_scope": Google_Protobuf_Value(stringValue: index.queryScope),
                    "properties": Google_Protobuf_Value(stringValue: index.properties),
                ])
            }
        }
        if let execution = metrics.execution { executionStats = PBExecutionStats(execution) }
    }

    var decoded: ExplainMetrics {
        ExplainMetrics(
            indexesUsed: planSummary.indexesUsed.map { index in
                IndexUse(
                    queryScope: index.fields["query_scope"]?.stringValue ?? "",
                    properties: index.fields["properties"]?.stringValue ?? "")
            },
            execution: hasExecutionStats ? executionStats.decoded : nil)
    }
}

extension PBExecutionStats {
    init(_ stats: ExecutionStats) {
        self.init()
        resultsReturned = stats.resultsReturned
        readOperations = stats.readOperations
        let (seconds, attoseconds) = stats.duration.components
        executionDuration = Google_Protobuf_Duration(
            seconds: seconds, nanos: Int32(attoseconds / 1_000_000_000))
        debugStats = Google_Protobuf_Struct(fields: stats.debugStats.mapValues(\.wire))
    }

    var decoded: ExecutionStats {
        ExecutionStats(
            resultsReturned: resultsReturned, readOperations: readOperations,
            duration: .seconds(executionDuration.seconds)
                + .nanoseconds(Int64(executionDuration.nanos)),
            debugStats: debugStats.fields.compactMapValues {
                ExecutionStats.DebugValue(wire: $0)
            })
    }
}

extension ExecutionStats.DebugValue {
    fileprivate var wire: Google_Protobuf_Value {
        switch self {
        case .text(let text): Google_Protobuf_Value(stringValue: text)
        case .group(let values):
            Google_Protobuf_Value(
                structValue: Google_Protobuf_Struct(fields: values.mapValues(\.wire)))
        }
    }

    /// Returns nil for values without meaning here: null, and lists, which no server has been seen
    /// to send.
    fileprivate init?(wire: Google_Protobuf_Value) {
        switch wire.kind {
        case .stringValue(let text): self = .text(text)
        case .numberValue(let number): self = .text("\(number)")
        case .boolValue(let flag): self = .text("\(flag)")
        case .structValue(let group):
            self = .group(group.fields.compactMapValues { Self(wire: $0) })
        case nil, .nullValue, .listValue: return nil
        }
    }
}
