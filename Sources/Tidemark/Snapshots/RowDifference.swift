/// A step from old rows to new rows: removals come first, in the old order, then the others in the
/// new order.
package struct RowDifference: Hashable {
    package var type: DocumentChangeType
    package var document: ViewDocument
    package var oldIndex: Int?
    package var newIndex: Int?

    /// Returns the steps. Costs a pass over both lists, and a pass over the rows for each modified
    /// row.
    package static func between(
        _ old: [ViewDocument], _ new: [ViewDocument], includeMetadata: Bool
    ) -> [RowDifference] {
        if old.isEmpty {
            return new.enumerated().map {
                RowDifference(type: .added, document: $1, oldIndex: nil, newIndex: $0)
            }
        }
        let kept = Set(new.map(\.path))
        let before = Dictionary(old.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        var changes: [RowDifference] = []
        var rows: [DocumentPath] = []
        for row in old {
            if kept.contains(row.path) {
                rows.append(row.path)
            } else {
                changes.append(
                    RowDifference(
                        type: .removed, document: row, oldIndex: rows.count, newIndex: nil))
            }
        }
        changes += arrivals(new, before: before, rows: &rows, includeMetadata: includeMetadata)
        assert(rows == new.map(\.path), "the changes do not lead from the old rows to the new")
        return changes
    }

    /// Processes the new rows in order. The rows in `rows[..<next]` are in their new order, except
    /// rows that move when their turn comes. Unchanged rows kept their order.
    private static func arrivals(
        _ new: [ViewDocument], before: [DocumentPath: ViewDocument],
        rows: inout [DocumentPath], includeMetadata: Bool
    ) -> [RowDifference] {
        var changes: [RowDifference] = []
        var next = 0
        for row in new {
            guard let previous = before[row.path] else {
                rows.insert(row.path, at: next)
                changes.append(
                    RowDifference(type: .added, document: row, oldIndex: nil, newIndex: next))
                next += 1
                continue
            }
            let isChanged =
                previous.document != row.document || (includeMetadata && previous != row)
            if !isChanged, let place = rows[next...].firstIndex(of: row.path) {
                next = place + 1
                continue
            }
            guard let oldIndex = rows.firstIndex(of: row.path) else { continue }
            rows.remove(at: oldIndex)
            if oldIndex < next { next -= 1 }
            rows.insert(row.path, at: next)
            changes.append(
                RowDifference(type: .modified, document: row, oldIndex: oldIndex, newIndex: next))
            next += 1
        }
        return changes
    }
}
