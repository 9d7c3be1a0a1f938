/// Counts what Firestore would bill for, by the caller's label. In memory: it counts from the start
/// of the process.
struct ReadMeter {
    /// Labels beyond this many are counted together, so that a caller cannot fill the memory.
    static let maxLabels = 10_000
    static let unlabelled = "unlabelled"
    static let overflow = "other labels"

    /// The RPCs that read, by their names in the protocol.
    enum Method: String {
        case getDocument = "GetDocument"
        case batchGetDocuments = "BatchGetDocuments"
        case listDocuments = "ListDocuments"
        case listCollectionIDs = "ListCollectionIds"
        case runQuery = "RunQuery"
        case runAggregationQuery = "RunAggregationQuery"
        case partitionQuery = "PartitionQuery"
        case listen = "Listen"
    }

    private var byLabel: [String: MeterRow] = [:]

    var rows: [MeterRow] { byLabel.values.sorted { $0.label < $1.label } }

    mutating func countReads(_ count: Int, by method: Method, label: String?) {
        precondition(count >= 0)
        if count == 0 { return }
        update(label) { row in
            row.reads += count
            row.readsByMethod[method.rawValue, default: 0] += count
        }
    }

    mutating func countWrites(_ writes: Int, deletes: Int, label: String?) {
        if writes == 0, deletes == 0 { return }
        update(label) { row in
            row.writes += writes
            row.deletes += deletes
        }
    }

    private mutating func update(_ label: String?, _ change: (inout MeterRow) -> Void) {
        var key = label ?? Self.unlabelled
        if byLabel[key] == nil, byLabel.count >= Self.maxLabels { key = Self.overflow }
        let empty = MeterRow(label: key, reads: 0, writes: 0, deletes: 0, readsByMethod: [:])
        change(&byLabel[key, default: empty])
    }
}
