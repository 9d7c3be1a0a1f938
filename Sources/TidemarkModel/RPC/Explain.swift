/// Asks for a query's plan, and with `analyze` also to run it and say what that took.
public struct ExplainOptions: Hashable, Sendable {
    /// Without it nothing is run: one read is billed and no documents come.
    public var analyze: Bool

    public init(analyze: Bool) { self.analyze = analyze }
}

/// How a query is answered, and what it took.
public struct ExplainMetrics: Hashable, Sendable {
    public var indexesUsed: [IndexUse]
    /// Nil when the query was not run.
    public var execution: ExecutionStats?

    public init(indexesUsed: [IndexUse], execution: ExecutionStats? = nil) {
        self.indexesUsed = indexesUsed
        self.execution = execution
    }
}

/// One index of a plan, in production's words.
public struct IndexUse: Hashable, Sendable {
    /// `Collection` or `Collection group`.
    public var queryScope: String
    /// As in `(a ASC, __name__ ASC)`.
    public var properties: String

    public init(queryScope: String, properties: String) {
        self.queryScope = queryScope
        self.properties = properties
    }
}

public struct ExecutionStats: Hashable, Sendable {
    public var resultsReturned: Int64
    /// What was billed.
    public var readOperations: Int64
    public var duration: Duration
    /// `documents_scanned`, `index_entries_scanned` and the like: production's names and texts.
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
