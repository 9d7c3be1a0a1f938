import TidemarkModel

/// What was billed: documents read, written and deleted.
public struct Usage: Hashable, Sendable, Codable {
    public var reads: Int
    public var writes: Int
    public var deletes: Int

    public init(reads: Int = 0, writes: Int = 0, deletes: Int = 0) {
        self.reads = reads
        self.writes = writes
        self.deletes = deletes
    }

    public static func += (left: inout Usage, right: Usage) {
        left.reads += right.reads
        left.writes += right.writes
        left.deletes += right.deletes
    }

    public static func - (left: Usage, right: Usage) -> Usage {
        Usage(
            reads: left.reads - right.reads, writes: left.writes - right.writes,
            deletes: left.deletes - right.deletes)
    }
}

/// What one caller, by label, was billed for and was sent.
public struct MeterRow: Hashable, Sendable, Codable {
    public var label: String
    /// Documents, at least one a query, one per 1,000 index entries of an aggregation.
    public var reads: Int
    public var writes: Int
    public var deletes: Int
    /// By RPC, the same reads again.
    public var readsByMethod: [String: Int]

    public init(
        label: String, reads: Int, writes: Int, deletes: Int, readsByMethod: [String: Int]
    ) {
        self.label = label
        self.reads = reads
        self.writes = writes
        self.deletes = deletes
        self.readsByMethod = readsByMethod
    }
}

/// By what a report of the meter tells its rows apart.
public enum MeterDimension: String, Hashable, Sendable, CaseIterable {
    /// Who asked: `x-tidemark-label`.
    case label
    /// From which installation: `x-tidemark-client`.
    case client
    /// The collection that a call was about, or the canonical id of the query that is listened to.
    case target
    /// The RPC.
    case method
}

/// A row of a report: only the dimensions that were asked for are not nil.
public struct MeterDetail: Hashable, Sendable, Codable {
    public var label: String?
    public var client: String?
    public var target: String?
    public var method: String?
    public var reads = 0
    public var writes = 0
    public var deletes = 0

    /// The target of what security rules have read: no collection has a name like that.
    package static let ofRules = "(rules)"
}

extension RPCStatus {
    /// The end of a call that was billed so much, with its trailers when its caller wants them.
    func reporting(_ usage: Usage, to context: CallContext) -> RPCStatus {
        var result = self
        result.billed = BilledCounts(
            reads: usage.reads, writes: usage.writes, deletes: usage.deletes)
        guard context.reportsUsage else { return result }
        result.trailers["x-tidemark-reads"] = "\(usage.reads)"
        result.trailers["x-tidemark-writes"] = "\(usage.writes)"
        result.trailers["x-tidemark-deletes"] = "\(usage.deletes)"
        return result
    }
}
