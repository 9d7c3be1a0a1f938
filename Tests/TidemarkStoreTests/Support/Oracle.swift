import TidemarkModel
import TidemarkStore
import TidemarkTestKit

/// The correct answers to queries, by the tests' own filtering and sorting.
struct Oracle {
    private(set) var documents: [DocumentPath: StoredDocument] = [:]

    mutating func put(_ document: StoredDocument) { documents[document.path] = document }
    mutating func remove(_ path: DocumentPath) { documents[path] = nil }

    func run(_ query: Query) -> [DocumentPath] {
        let found = documents.values.filter { $0.kind == .found }
        return QueryOracle(query, in: testDatabase)
            .rows(of: found.map { ($0.path, $0.contents.decoded) }).map(\.path)
    }
}
