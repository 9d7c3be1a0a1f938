import TidemarkModel

// The server sends the number of a target's documents. A different number on this device means that
// a removal was missed.

extension WatchAggregator {
    private enum Verdict { case agrees, skipped, falsePositive }

    mutating func receive(_ filter: ExistenceFilter, _ remoteKeys: RemoteKeys) {
        let wireID = filter.targetID
        guard isActive(wireID), let target = targets[wireID] else { return }
        if let path = target.onlyDocument {
            if filter.count == 0 {
                remove(path, from: wireID, updated: .missing(path, .min), remoteKeys)
            }
            return
        }
        let held = remoteKeys(target.targetID)
        let count = held.count + target.balance
        guard count != Int(filter.count) else { return }
        let verdict = apply(filter, held: held, count: count, remoteKeys: remoteKeys)
        guard verdict != .agrees else { return }
        reset(wireID, remoteKeys)
        mismatches[target.targetID] =
            verdict == .falsePositive ? .existenceFilterMismatchBloom : .existenceFilterMismatch
    }

    /// Removes the documents that the filter surely does not contain from the target, but not from
    /// the cache. Limbo resolution finds out later whether they were deleted.
    private mutating func apply(
        _ filter: ExistenceFilter, held: Set<DocumentPath>, count: Int,
        remoteKeys: RemoteKeys
    ) -> Verdict {
        guard let bits = filter.unchangedNames, !bits.bitmap.isEmpty,
            let bloom = BloomFilter(bits)
        else { return .skipped }
        var removed = 0
        for path in held where !bloom.mightContain(path.name(in: database)) {
            remove(path, from: filter.targetID, updated: nil, remoteKeys)
            removed += 1
        }
        return Int(filter.count) == count - removed ? .agrees : .falsePositive
    }
}

extension WatchAggregator.Target {
    /// The difference that the changes make to the number of rows.
    var balance: Int {
        changes.values.reduce(0) { sum, change in
            switch change {
            case .added: sum + 1
            case .removed: sum - 1
            case .modified: sum
            }
        }
    }
}
