public import TidemarkModel

/// The billed numbers of documents that were read, written and deleted, and the units of databases
/// of the Enterprise edition.
public struct Usage: Hashable, Sendable {
    public var reads: Int
    public var writes: Int
    public var deletes: Int
    /// The units that databases of the Enterprise edition are billed; zero for other databases.
    public var units: BilledUnits

    public init(
        reads: Int = 0, writes: Int = 0, deletes: Int = 0, units: BilledUnits = BilledUnits()
    ) {
        self.reads = reads
        self.writes = writes
        self.deletes = deletes
        self.units = units
    }

    public static func += (left: inout Usage, right: Usage) {
        left.reads += right.reads
        left.writes += right.writes
        left.deletes += right.deletes
        left.units += right.units
    }

    public static func - (left: Usage, right: Usage) -> Usage {
        Usage(
            reads: left.reads - right.reads, writes: left.writes - right.writes,
            deletes: left.deletes - right.deletes, units: left.units - right.units)
    }
}

/// The bill of a caller, by label.
public struct MeterRow: Hashable, Sendable, Codable {
    public var label: String
    /// The number of reads: documents, at least one per query, one per 1,000 index entries of an
    /// aggregation.
    public var reads: Int
    public var writes: Int
    public var deletes: Int
    /// The same reads, by RPC.
    public var readsByMethod: [String: Int]
    /// The units of databases of the Enterprise edition; nil if there are none.
    public var units: BilledUnits?

    public init(
        label: String, reads: Int, writes: Int, deletes: Int, readsByMethod: [String: Int],
        units: BilledUnits? = nil
    ) {
        self.units = units
        self.label = label
        self.reads = reads
        self.writes = writes
        self.deletes = deletes
        self.readsByMethod = readsByMethod
    }
}

/// The dimensions of a report of the meter.
public enum MeterDimension: String, Hashable, Sendable, CaseIterable {
    /// The caller: `x-tidemark-label`.
    case label
    /// The caller's installation: `x-tidemark-client`.
    case client
    /// The collection of a call, or the canonical id of a listen's query.
    case target
    /// The RPC.
    case method
}

/// A row of a report: dimensions that were not requested are nil.
public struct MeterDetail: Hashable, Sendable, Codable {
    public var label: String?
    public var client: String?
    public var target: String?
    public var method: String?
    public var reads = 0
    public var writes = 0
    public var deletes = 0
    /// The units of databases of the Enterprise edition; nil if there are none.
    public var units: BilledUnits?

    /// The target for the reads of security rules: no collection has such a name.
    package static let ofRules = "(rules)"
}

extension RPCStatus {
    /// Returns the status at the end of a billed call, with trailers if the caller requests them.
    func reporting(_ usage: Usage, to context: CallContext) -> RPCStatus {
        var result = self
        result.billed = BilledCounts(
            reads: usage.reads, writes: usage.writes, deletes: usage.deletes, units: usage.units)
        guard context.reportsUsage else { return result }
        result.trailers["x-tidemark-reads"] = "\(usage.reads)"
        result.trailers["x-tidemark-writes"] = "\(usage.writes)"
        result.trailers["x-tidemark-deletes"] = "\(usage.deletes)"
        if !usage.units.isZero {
            result.trailers["x-tidemark-read-units"] = "\(usage.units.read)"
            result.trailers["x-tidemark-update-units"] = "\(usage.units.realtimeUpdate)"
            result.trailers["x-tidemark-write-units"] = "\(usage.units.write)"
        }
        return result
    }
}
