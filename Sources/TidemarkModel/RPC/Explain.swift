/// Requests the plan of a query. With `analyze`, also runs the query and reports the cost.
public struct ExplainOptions: Hashable, Sendable {
    /// If false, the query is not run: one read is billed and no documents are returned.
    public var analyze: Bool

    public init(analyze: Bool) { self.analyze = analyze }
}

/// The plan of a query, and the cost of running it.
public struct ExplainMetrics: Hashable, Sendable {
    public var indexesUsed: [IndexUse]
    /// The cost; nil if the query was not run.
    public var execution: ExecutionStats?

    public init(indexesUsed: [IndexUse], execution: ExecutionStats? = nil) {
        self.indexesUsed = indexesUsed
        self.execution = execution
    }
}

/// An index of a plan, in production's words.
public struct IndexUse: Hashable, Sendable {
    /// `Collection` or `Collection group`.
    public var queryScope: String
    /// The fields, for example `(a ASC, __name__ ASC)`.
    public var properties: String

    public init(queryScope: String, properties: String) {
        self.queryScope = queryScope
        self.properties = properties
    }
}

public struct ExecutionStats: Hashable, Sendable {
    public var resultsReturned: Int64
    /// The number of billed reads.
    public var readOperations: Int64
    public var duration: Duration
    /// Counters such as `documents_scanned` and `index_entries_scanned`, with production's names
    /// and texts.
    public var debugStats: [String: DebugValue]

    public indirect enum DebugValue: Hashable, Sendable {
        case text(String)
        case group([String: DebugValue])
    }

    public init(
        resultsReturned: Int64, readOperations: Int64, duration: Duration,
        debugStats: [String: DebugValue] = [:]
    ) {
        self.resultsReturned = resultsReturned
        self.readOperations = readOperations
        self.duration = duration
        self.debugStats = debugStats
    }
}
