import TidemarkModel
import TidemarkServer

/// What one label was billed, in reads.
struct Bill: Sendable {
    private struct Key: Hashable {
        let target, method: String
    }

    private var reads: [Key: Int] = [:]

    init(_ details: [MeterDetail]) {
        for detail in details {
            reads[Key(target: detail.target ?? "", method: detail.method ?? ""), default: 0] +=
                detail.reads
        }
    }

    /// Of documents that the caller asked for.
    var documents: Int { sum { $0.target != MeterDetail.ofRules } }
    /// Of what security rules have read.
    var rules: Int { sum { $0.target == MeterDetail.ofRules } }

    /// Of one kind of call on one collection.
    func reads(by method: RPCMethod, on collection: String) -> Int {
        sum { $0.target == collection && $0.method == method.rawValue }
    }

    private func sum(_ isCounted: (Key) -> Bool) -> Int {
        reads.reduce(0) { isCounted($1.key) ? $0 + $1.value : $0 }
    }

    /// What has been billed since.
    func minus(_ earlier: Bill) -> Bill {
        var rest = self
        for (key, count) in earlier.reads { rest.reads[key, default: 0] -= count }
        return rest
    }
}
