import Tidemark
import TidemarkModel
import TidemarkServer

/// The bill of one label, in reads and units.
struct Bill: Sendable {
    private struct Key: Hashable {
        let target, method: String
    }

    private var reads: [Key: Int] = [:]
    private var units: [Key: BilledUnits] = [:]

    init(_ details: [MeterDetail]) {
        for detail in details {
            let key = Key(target: detail.target ?? "", method: detail.method ?? "")
            reads[key, default: 0] += detail.reads
            units[key, default: BilledUnits()] += detail.units ?? BilledUnits()
        }
    }

    /// The number of reads of documents that the caller requested.
    var documents: Int { sum { $0.target != MeterDetail.ofRules } }
    /// The units of reading what the caller requested; zero in a database of the Standard edition.
    var unitsRead: BilledUnits {
        var sum = units.reduce(into: BilledUnits()) {
            if $1.key.target != MeterDetail.ofRules { $0 += $1.value }
        }
        sum.write = 0
        return sum
    }
    /// The number of reads by security rules.
    var rules: Int { sum { $0.target == MeterDetail.ofRules } }

    /// The bill of what the caller requested.
    var planned: PlannedBill { PlannedBill(reads: documents, units: unitsRead) }

    /// The reads by call and collection, such as `RunQuery stamps 3, Listen users 1`.
    var text: String {
        let parts = reads.filter { $0.value != 0 }.map { key, count in
            "\(key.method) \(key.target) \(count)"
        }
        return parts.isEmpty ? "nothing" : parts.sorted().joined(separator: ", ")
    }

    /// Returns the number of reads by one kind of call on one collection.
    func reads(by method: RPCMethod, on collection: String) -> Int {
        sum { $0.target == collection && $0.method == method.rawValue }
    }

    private func sum(_ isCounted: (Key) -> Bool) -> Int {
        reads.reduce(0) { isCounted($1.key) ? $0 + $1.value : $0 }
    }

    /// Returns the reads since an earlier bill.
    func minus(_ earlier: Bill) -> Bill {
        var rest = self
        for (key, count) in earlier.reads { rest.reads[key, default: 0] -= count }
        for (key, count) in earlier.units {
            rest.units[key] = (rest.units[key] ?? BilledUnits()) - count
        }
        return rest
    }
}
