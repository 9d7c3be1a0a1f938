import TidemarkModel
import TidemarkStore

/// What a query must give: filter and sort, as the model says.
struct Oracle {
    private(set) var documents: [DocumentPath: StoredDocument] = [:]

    mutating func put(_ document: StoredDocument) { documents[document.path] = document }
    mutating func remove(_ path: DocumentPath) { documents[path] = nil }

    func run(_ query: Query) -> [DocumentPath] {
        var rows = documents.values.filter { $0.kind == .found }
            .map { (path: $0.path, fields: $0.contents.decoded) }
            .filter { query.matches($0.path, $0.fields, in: testDatabase) }
        rows.sort { query.compare($0, $1, in: testDatabase) == .ascending }
        let rest = rows.map(\.path).dropFirst(query.offset)
        switch query.limit {
        case .first(let count)?: return Array(rest.prefix(count))
        case .last(let count)?: return Array(rest.suffix(count))
        case nil: return Array(rest)
        }
    }
}
