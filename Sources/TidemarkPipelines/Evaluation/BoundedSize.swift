import TidemarkModel

// A value can contain the same array many times without a copy, so a short pipeline can make a
// value whose size is astronomic. These sizes stop counting at a bound.

extension Value {
    /// Returns the storage size; a number above `bound` as soon as the size exceeds it.
    func size(upTo bound: Int) -> Int {
        switch self {
        case .array(let values):
            var total = 0
            for value in values {
                total += 1 + value.size(upTo: bound - total)
                if total > bound { return total }
            }
            return total
        case .map(let fields): return fields.size(upTo: bound)
        default: return storageSize
        }
    }
}

extension MapValue {
    /// Returns the storage size; a number above `bound` as soon as the size exceeds it.
    func size(upTo bound: Int) -> Int {
        var total = 0
        for entry in entries {
            total += entry.key.utf8.count + 1 + entry.value.size(upTo: bound - total)
            if total > bound { return total }
        }
        return total
    }
}

extension Scope {
    /// Checks the size of a value that is not complete yet. Its parts together could take more
    /// memory than there is.
    func checkSize(_ bytes: Int, in function: String) throws(Fault) {
        let bound = run.context.limits.valueBytes
        if bytes > bound { throw Fault("\(function): the result is larger than \(bound) bytes.") }
    }
}

extension Outcome {
    /// The same outcome, or an error if the value is too large.
    func bounded(in function: String, _ scope: Scope) -> Outcome {
        let bound = scope.run.context.limits.valueBytes
        guard case .value(let value) = self, value.size(upTo: bound) > bound else { return self }
        return .error("\(function): the result is larger than \(bound) bytes.")
    }
}
