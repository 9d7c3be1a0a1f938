import Tidemark
import TidemarkSync

// What a snapshot says has changed, against the rows before and its own.

extension World {
    /// A snapshot's changes, made one after the other to the rows before, give its rows.
    func checkChanges(
        of snapshot: ViewSnapshot, _ listener: WorldListener, _ client: WorldClient
    ) {
        let before = listener.snapshots == 0 ? [] : listener.snapshot?.documents ?? []
        let after = snapshot.documents
        func violated(_ what: String) {
            violate(
                .changes,
                "\(client.name): \(what): from \(before.map { WorldRow($0).text }) to "
                    + "\(after.map { WorldRow($0).text }) of \(snapshot.query)")
        }
        if snapshot.oldDocuments.map(WorldRow.init) != before.map(WorldRow.init) {
            return violated("the rows before were others")
        }
        var rows = before.map(WorldRow.init)
        for change in RowDifference.between(
            snapshot.oldDocuments, after, includeMetadata: listener.options.includeMetadataChanges)
        {
            if let old = change.oldIndex {
                guard rows.indices.contains(old), rows[old].path == change.document.path else {
                    return violated("a change is of another row")
                }
                rows.remove(at: old)
            }
            if let new = change.newIndex {
                guard new <= rows.count else { return violated("a change is beyond all rows") }
                rows.insert(WorldRow(change.document), at: new)
            }
        }
        if rows != after.map(WorldRow.init) { return violated("the changes give other rows") }
        checkListed(snapshot, before, after, violated)
        figures.changes += 1
    }

    /// The engine's own list of changes names each row that came, went or differs, and no other.
    private func checkListed(
        _ snapshot: ViewSnapshot, _ before: [ViewDocument], _ after: [ViewDocument],
        _ violated: (String) -> Void
    ) {
        let old = Dictionary(uniqueKeysWithValues: before.map { ($0.path, WorldRow($0)) })
        let new = Dictionary(uniqueKeysWithValues: after.map { ($0.path, WorldRow($0)) })
        var listed: [DocumentPath: ViewChange.Kind] = [:]
        for change in snapshot.changes where change.kind != .metadata {
            if listed.updateValue(change.kind, forKey: change.document.path) != nil {
                return violated("\(change.document.path.id) changes twice")
            }
        }
        for path in Set(old.keys).union(new.keys) {
            let expected: ViewChange.Kind? =
                switch (old[path], new[path]) {
                case (nil, _?): .added
                case (_?, nil): .removed
                case (let a?, let b?): a == b ? nil : .modified
                case (nil, nil): nil
                }
            if listed[path] != expected {
                return violated("\(path.id) is told as \(String(describing: listed[path]))")
            }
        }
    }
}
