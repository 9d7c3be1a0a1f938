import TidemarkModel
import TidemarkStore

/// The changes of a commit, for its listeners.
struct Commit {
    let database: DatabaseID
    let time: Timestamp
    /// The changes, one per document, in the order of the commit's first write to each. No-op
    /// writes are excluded.
    let changes: [DocumentDifference]
    /// The present rows of each listen with a limit or an offset whose rows may have changed.
    let windows: [(target: LiveTarget, rows: [Document])]
}

/// A document before and after a commit; at least one of the two is not nil.
struct DocumentDifference {
    let path: DocumentPath
    let before: DocumentVersion?
    let after: Document?
    /// The contents of `after`, decoded.
    let fieldsAfter: MapValue?
}

/// A document from the store, decoded once for all uses.
struct DocumentVersion {
    let row: StoredRow
    let document: Document
    let fields: MapValue

    /// Creates the version; nil if the row records that there is no document.
    init?(_ row: StoredRow) {
        guard let document = row.document.document else { return nil }
        self.row = row
        self.document = document
        fields = document.fields
    }
}
