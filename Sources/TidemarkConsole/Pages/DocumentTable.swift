import TidemarkModel

/// A table of documents or of a pipeline's rows, with a column for each field of any of them.
struct DocumentTable: Encodable {
    let columns: [String]
    /// True if there are fields without a column.
    let hasMoreColumns: Bool
    let rows: [Row]

    /// The maximum number of columns. The document's own page shows all fields.
    static let maxColumns = 12

    struct Row: Encodable {
        /// The path of the document; empty for a row without one.
        let path: String
        /// The fields; nil for a missing document with documents below it.
        let fields: FieldsJSON?

        private enum Key: String, CodingKey { case path }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(path, forKey: .path)
            try fields?.encode(to: encoder)
        }
    }

    init(_ documents: [(path: DocumentPath, document: Document?)]) {
        self.init(
            rows: documents.map { path, document in
                Row(path: path.text, fields: document.map { FieldsJSON($0.fields) })
            })
    }

    init(rows: [Row]) {
        self.rows = rows
        var counts: [ByteString: Int] = [:]
        for row in rows {
            for entry in row.fields?.fields.entries ?? [] {
                counts[ByteString(entry.key), default: 0] += 1
            }
        }
        let names = counts.sorted { left, right in
            left.value == right.value
                ? left.key.text.precedesInBytes(right.key.text) : left.value > right.value
        }.map(\.key.text)
        columns = Array(names.prefix(Self.maxColumns))
        hasMoreColumns = names.count > Self.maxColumns
    }

    /// - Parameter isOfDocuments: True if every row is a document; false for rows of a pipeline.
    @HTMLBuilder func html(_ place: DataPlace, isOfDocuments: Bool = true) -> HTML {
        if rows.isEmpty {
            Tag.p { isOfDocuments ? "There are no documents here." : "There are no rows." }
        }
        Tag.div(
            .class("scroll"), .focusable, .role("region"),
            .label(isOfDocuments ? "Documents" : "Rows")
        ) {
            Tag.table {
                Tag.thead {
                    Tag.tr {
                        Tag.th(.scope("col")) { isOfDocuments ? "Document" : "Row" }
                        for column in columns { Tag.th(.scope("col")) { Tag.bdi { column } } }
                        if hasMoreColumns { Tag.th(.scope("col")) { "…" } }
                    }
                }
                Tag.tbody {
                    for (index, row) in rows.enumerated() { html(row, number: index + 1, place) }
                }
            }
        }
    }

    @HTMLBuilder private func html(_ row: Row, number: Int, _ place: DataPlace) -> HTML {
        let segments = row.path.split(separator: "/").map(String.init)
        Tag.tr {
            Tag.th(.scope("row")) {
                if segments.isEmpty {
                    number.grouped
                } else {
                    Tag.a(.href(place.address(segments))) { Tag.bdi { segments.last ?? "" } }
                }
                if row.fields == nil { Tag.small { " missing, has subcollections" } }
            }
            for column in columns {
                if let value = row.fields?.fields[column] {
                    let text = ValueText(value, limit: 60)
                    Tag.td(
                        .class("value " + text.kind.replacing(" ", with: "-")), .title(text.kind)
                    ) {
                        Tag.bdi { text.text }
                    }
                } else {
                    Tag.td(.class("absent")) { "–" }
                }
            }
            if hasMoreColumns { Tag.td { "…" } }
        }
    }
}
