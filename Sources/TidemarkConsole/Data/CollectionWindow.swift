import TidemarkModel

/// A part of a collection for the scrolling table: small, regardless of the size of the documents.
struct CollectionWindow: Encodable {
    let columns: [String]
    let rows: [Row]
    /// True if there are rows after these.
    let more: Bool

    struct Row: Encodable {
        let id: String
        /// The update time; nil for a missing document with documents below it.
        let update: String?
        let cells: [Cell?]
    }

    /// A value in the REST form, or the beginning of a value that is too long for a cell.
    struct Cell: Encodable {
        let value: Value

        private enum Key: String, CodingKey { case kind, cut }

        func encode(to encoder: any Encoder) throws {
            let text = ValueText(value, limit: 80)
            guard text.isCut else { return try ValueJSON(value).encode(to: encoder) }
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(text.kind, forKey: .kind)
            try container.encode(text.text, forKey: .cut)
        }
    }

    /// - Parameter columns: The fields to show; empty for the fields that most of the rows have.
    init(_ listed: [ListedDocument], columns: [String], more: Bool) {
        let chosen =
            columns.isEmpty
            ? DocumentTable(listed.map { ($0.path, $0.document) }).columns
            : Array(columns.prefix(DocumentTable.maxColumns))
        self.columns = chosen
        self.more = more
        rows = listed.map { row in
            let fields = row.document?.fields
            return Row(
                id: row.path.id, update: row.document?.updateTime.rfc3339,
                cells: chosen.map { name in fields?[name].map { Cell(value: $0) } })
        }
    }
}
