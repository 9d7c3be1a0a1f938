import Tidemark
import TidemarkModel
import TidemarkSync

/// Checks a snapshot's changes against the previous rows and the snapshot's own rows.
struct WorldChangesCheck {
    private let snapshot: ViewSnapshot
    private let before: [ViewDocument]
    private let includesMetadata: Bool

    /// - Parameter listener: The listener, before it has shown the snapshot.
    init(_ snapshot: ViewSnapshot, after listener: WorldListener) {
        self.snapshot = snapshot
        before = listener.snapshots == 0 ? [] : listener.snapshot?.documents ?? []
        includesMetadata = listener.options.includeMetadataChanges
    }

    /// The fault in the changes; nil if there is none.
    var fault: String? {
        guard let what = faultOfIndices ?? faultOfList else { return nil }
        return "\(what): from \(before.map { WorldRow($0).text }) to "
            + "\(snapshot.documents.map { WorldRow($0).text }) of \(snapshot.query)"
    }

    /// The fault if the changes, applied in order to the previous rows, do not give the new rows.
    private var faultOfIndices: String? {
        if snapshot.oldDocuments.map(WorldRow.init) != before.map(WorldRow.init) {
            return "the rows before were others"
        }
        var rows = before.map(WorldRow.init)
        for change in RowDifference.between(
            snapshot.oldDocuments, snapshot.documents, includeMetadata: includesMetadata)
        {
            if let old = change.oldIndex {
                guard rows.indices.contains(old), rows[old].path == change.document.path else {
                    return "a change is of another row"
                }
                rows.remove(at: old)
            }
            if let new = change.newIndex {
                guard new <= rows.count else { return "a change is beyond all rows" }
                rows.insert(WorldRow(change.document), at: new)
            }
        }
        return rows == snapshot.documents.map(WorldRow.init) ? nil : "the changes give other rows"
    }

    /// The fault if the engine's list of changes does not name exactly the rows that were added,
    /// removed or changed.
    private var faultOfList: String? {
        let old = Dictionary(uniqueKeysWithValues: before.map { ($0.path, WorldRow($0)) })
        let new = Dictionary(
            uniqueKeysWithValues: snapshot.documents.map { ($0.path, WorldRow($0)) })
        var listed: [DocumentPath: ViewChange.Kind] = [:]
        for change in snapshot.changes where change.kind != .metadata {
            if listed.updateValue(change.kind, forKey: change.document.path) != nil {
                return "\(change.document.path.id) changes twice"
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
                return "\(path.id) is told as \(String(describing: listed[path]))"
            }
        }
        return nil
    }
}
