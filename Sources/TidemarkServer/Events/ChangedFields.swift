import TidemarkModel

/// Finds the fields that differ between two versions of a document.
enum ChangedFields {
    /// Returns the paths of the leaves that differ, in the order of their bytes. A map that exists
    /// on both sides is compared field by field. A new map counts with each of its leaves.
    static func leaves(from before: MapValue, to after: MapValue) -> [FieldPath] {
        var paths: [FieldPath] = []
        compare(before, after, below: [], into: &paths)
        return paths
    }

    private static func compare(
        _ before: MapValue, _ after: MapValue, below parents: [String],
        into paths: inout [FieldPath]
    ) {
        let (old, new) = (before.entries, after.entries)
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            let order: Comparison =
                left == old.count
                ? .descending
                : right == new.count ? .ascending : .bytes(old[left].key, new[right].key)
            switch order {
            case .ascending:
                addLeaves(of: old[left].value, at: parents + [old[left].key], to: &paths)
                left += 1
            case .descending:
                addLeaves(of: new[right].value, at: parents + [new[right].key], to: &paths)
                right += 1
            case .equal:
                if old[left].value != new[right].value {
                    compare(
                        old[left].value, new[right].value, at: parents + [new[right].key],
                        into: &paths)
                }
                left += 1
                right += 1
            }
        }
    }

    private static func compare(
        _ before: Value, _ after: Value, at path: [String], into paths: inout [FieldPath]
    ) {
        if case .map(let old) = before, case .map(let new) = after, !old.entries.isEmpty,
            !new.entries.isEmpty
        {
            compare(old, new, below: path, into: &paths)
        } else {
            addLeaves(of: after, at: path, to: &paths)
        }
    }

    private static func addLeaves(
        of value: Value, at path: [String], to paths: inout [FieldPath]
    ) {
        if case .map(let map) = value, !map.entries.isEmpty {
            for entry in map.entries {
                addLeaves(of: entry.value, at: path + [entry.key], to: &paths)
            }
        } else {
            paths.append(FieldPath(unchecked: path))
        }
    }
}
