import Tidemark
import TidemarkApp
import TidemarkModel

/// The documents that a row has written, with the sizes by which the Enterprise edition bills them.
struct WrittenDocuments {
    /// The bytes of a timestamp in an index entry.
    static let timeBytes = 8

    private(set) var fields: [DocumentPath: MapValue] = [:]

    init(_ mutations: [Mutation]) { for mutation in mutations { play(mutation) } }

    mutating func play(_ mutation: Mutation) {
        var document: MapValue
        switch mutation.operation {
        case .set(let fields): document = fields
        case .patch(let fields, let mask):
            document = self.fields[mutation.path] ?? MapValue()
            for path in mask { document[path] = fields[path] }
        case .delete: return fields[mutation.path] = nil
        case .verify: return
        }
        for transform in mutation.transforms {
            // The demo's transforms make timestamps and integers, which have the same size.
            document[transform.field] = .integer(0)
        }
        fields[mutation.path] = document
    }

    /// Returns the sizes of documents, in this order, each once.
    ///
    /// - Parameter indexed: The bytes of the indexed values in the index of the query.
    func rows(
        _ paths: some Sequence<DocumentPath>, indexed: Int = timeBytes
    ) -> [ExpectedRow] {
        var seen: Set<DocumentPath> = []
        return paths.compactMap { path in
            guard let fields = fields[path], seen.insert(path).inserted else { return nil }
            return ExpectedRow(
                documentBytes: Document.storageSize(of: fields, at: path),
                entryBytes: Self.entryBase(path) + indexed)
        }
    }

    /// Returns the sizes of the documents of a collection, newest first.
    ///
    /// - Parameters:
    ///   - field: The field with a document's own time.
    ///   - start: The time above which documents are counted; nil for all.
    ///   - indexed: The bytes of the indexed values in the index of the query.
    func newest(
        in collection: CollectionPath, by field: String, above start: Timestamp? = nil,
        indexed: Int = timeBytes
    ) -> [ExpectedRow] {
        let dated = fields.compactMap { path, fields -> (Timestamp, DocumentPath)? in
            guard path.parent == collection, case .timestamp(let time)? = fields[field],
                start.map({ time > $0 }) ?? true
            else { return nil }
            return (time, path)
        }
        let sorted = dated.sorted { ($1.0, $1.1) < ($0.0, $0.1) }
        return rows(sorted.map(\.1), indexed: indexed)
    }

    /// Returns documents as the plan of a pager expects them, without those that do not exist.
    ///
    /// - Parameters:
    ///   - field: The field that orders the pages.
    ///   - changedAt: The time of the last change of all of them.
    ///   - indexed: The bytes of the indexed values in the index of the query.
    func expected(
        _ paths: some Sequence<DocumentPath>, by field: String, changedAt: Timestamp, indexed: Int
    ) -> [ExpectedDocument] {
        paths.compactMap { path in
            guard let fields = fields[path], case .timestamp(let time)? = fields[field],
                let row = rows([path], indexed: indexed).first
            else { return nil }
            return ExpectedDocument(
                path: path, time: time, changedAt: changedAt,
                isMarkedDeleted: fields[ItemFields.deletedAt] != nil, row: row)
        }
    }

    /// Returns the sizes of a document that someone else has written.
    static func row(_ document: Document, indexed: Int = timeBytes) -> ExpectedRow {
        row(document.fields, at: document.path, indexed: indexed)
    }

    /// Returns the sizes of a document with these fields.
    static func row(
        _ fields: MapValue, at path: DocumentPath, indexed: Int = timeBytes
    ) -> ExpectedRow {
        ExpectedRow(
            documentBytes: Document.storageSize(of: fields, at: path),
            entryBytes: entryBase(path) + indexed)
    }

    /// Returns the bytes that each index entry has beside its values, by Firestore's page of
    /// storage sizes: the document's name, its parent's name, and 32.
    private static func entryBase(_ path: DocumentPath) -> Int {
        let segments = path.text.split(separator: "/")
        let parent = segments.dropLast(2).reduce(0) { $0 + $1.utf8.count + 1 }
        return path.text.utf8.count + 1 + 16 + parent + 16 + 32
    }
}
