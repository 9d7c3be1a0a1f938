import TidemarkModel
import TidemarkStore

/// What one commit did, for those who listen.
struct Commit {
    let database: DatabaseID
    let time: Timestamp
    /// One a document, in the order of the commit's first write to it. No-op writes are not among
    /// them.
    let changes: [DocumentDifference]
    /// For each listen whose rows are cut off by a limit or an offset and may have moved: its rows now.
    let windows: [(target: LiveTarget, rows: [Document])]
}

/// One document before and after a commit; not nil in both.
struct DocumentDifference {
    let path: DocumentPath
    let before: DocumentVersion?
    let after: Document?
    /// The contents of `after`, decoded.
    let fieldsAfter: MapValue?
}

/// A document as the store has it, decoded once for all who ask what it was.
struct DocumentVersion {
    let row: StoredRow
    let document: Document
    let fields: MapValue

    /// Nil where the row says that there is none.
    init?(_ row: StoredRow) {
        guard let document = row.document.document else { return nil }
        self.row = row
        self.document = document
        fields = document.fields
    }
}
