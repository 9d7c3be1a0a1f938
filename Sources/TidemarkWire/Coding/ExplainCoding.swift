import TidemarkModel

extension ExplainOptionsMessage {
    init(_ options: ExplainOptions) { self.init(analyze: options.analyze) }

    var decoded: ExplainOptions { ExplainOptions(analyze: analyze) }
}

extension ExplainMetricsMessage {
    init(_ metrics: ExplainMetrics) {
        self.init()
        planSummary = PlanSummaryMessage(
            indexesUsed: metrics.indexesUsed.map { index in
                StructMessage(fields: [
                    "query_scope": StructValueMessage(stringValue: index.queryScope),
                    "properties": StructValueMessage(stringValue: index.properties),
                ])
            })
        executionStats = metrics.execution.map(ExecutionStatsMessage.init)
    }

    var decoded: ExplainMetrics {
        let indexes = planSummary?.indexesUsed ?? []
        return ExplainMetrics(
            indexesUsed: indexes.map { index in
                IndexUse(
                    queryScope: index.fields["query_scope"]?.stringValue ?? "",
                    properties: index.fields["properties"]?.stringValue ?? "")
            },
            execution: executionStats?.decoded)
    }
}

extension ExecutionStatsMessage {
    init(_ stats: ExecutionStats) {
        self.init()
        resultsReturned = stats.resultsReturned
        readOperations = stats.readOperations
        executionDuration = stats.duration.wire
        debugStats = StructMessage(fields: stats.debugStats.mapValues(\.wire))
    }

    var decoded: ExecutionStats {
        ExecutionStats(
            resultsReturned: resultsReturned, readOperations: readOperations,
            duration: Duration(wire: executionDuration ?? DurationMessage()),
            debugStats: (debugStats?.fields ?? [:]).compactMapValues {
                ExecutionStats.DebugValue(wire: $0)
            })
    }
}

extension ExecutionStats.DebugValue {
    fileprivate var wire: StructValueMessage {
        switch self {
        case .text(let text): StructValueMessage(stringValue: text)
        case .group(let values):
            StructValueMessage(structValue: StructMessage(fields: values.mapValues(\.wire)))
        }
    }

    /// Returns nil for values without meaning here: null, and lists, which no server has been seen
    /// to send.
    fileprivate init?(wire: StructValueMessage) {
        if let text = wire.stringValue {
            self = .text(text)
        } else if let number = wire.numberValue {
            self = .text("\(number)")
        } else if let flag = wire.boolValue {
            self = .text("\(flag)")
        } else if let object = wire.structValue {
            self = .group(object.fields.compactMapValues { Self(wire: $0) })
        } else {
            return nil
        }
    }
}
