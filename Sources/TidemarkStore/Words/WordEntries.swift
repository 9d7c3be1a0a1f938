import TidemarkModel

/// Writes and removes the words of documents.
///
/// The table of words keeps for each word the rows that have it, and no text. Words are removed by
/// naming them, so the caller gives the old version of a document.
struct WordEntries {
    let connection: Connection

    /// Updates the words of a document from one version to another, in the transaction that writes
    /// the document.
    func replace(
        of row: IndexedRow, from old: (some FieldSource)?, to new: (some FieldSource)?
    ) throws(StoreError) {
        guard let index = row.collection.group.words, index.covers(row.id) else { return }
        if let old = old as? EncodedFields, let new = new as? EncodedFields,
            index.definition.fields.allSatisfy({ old.hasSameEncoding(as: new, at: $0) })
        {
            return
        }
        let before = old.map { index.text(of: $0, in: row.collection) } ?? ""
        let after = new.map { index.text(of: $0, in: row.collection) } ?? ""
        #if TIDEMARK_DEFECTS
            if WordDefect.planted == .wordsStay, new == nil { return }
        #endif
        if !before.isEmpty { try run(.deleteWords, row.id, before) }
        if !after.isEmpty { try run(.insertWords, row.id, after) }
    }

    func insert(_ text: String, row: Int64) throws(StoreError) {
        if !text.isEmpty { try run(.insertWords, row, text) }
    }

    private func run(_ sql: OwnSQL, _ row: Int64, _ text: String) throws(StoreError) {
        let statement = try connection.statement(sql)
        defer { statement.release() }
        statement.bind(1, row)
        statement.bind(2, text)
        try statement.run()
    }
}
