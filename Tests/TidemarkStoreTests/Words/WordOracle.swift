import TidemarkModel
import TidemarkStore

/// The documents of a store, and a naive search of them. It cuts texts of lower-case letters at
/// spaces.
struct WordOracle {
    private(set) var documents: [DocumentPath: MapValue] = [:]

    mutating func put(_ path: DocumentPath, _ fields: MapValue) { documents[path] = fields }
    mutating func remove(_ path: DocumentPath) { documents[path] = nil }
    mutating func removeAll() { documents = [:] }

    func search(
        _ terms: [SearchTerm], in query: Query, fields: [String]
    ) -> Set<DocumentPath> {
        Set(
            documents.keys.filter { path in
                guard path.collectionID == query.collectionID,
                    query.allDescendants || path.parent == query.collection
                else { return false }
                let words = fields.flatMap { self.words(of: documents[path]!, in: $0) }
                return terms.allSatisfy { term in
                    words.contains { word in
                        term.isPrefix ? word.hasPrefix(term.word) : word == term.word
                    }
                }
            })
    }

    private func words(of document: MapValue, in field: String) -> [String] {
        switch document.first(where: { $0.key == field })?.value {
        case .string(let text)?: text.split(separator: " ").map(String.init)
        case .array(let values)?:
            values.flatMap { value -> [String] in
                guard case .string(let text) = value else { return [] }
                return text.split(separator: " ").map(String.init)
            }
        default: []
        }
    }
}

extension Dice {
    static let letters = ["a", "b", "c"]

    mutating func word() -> String {
        (0...roll(3)).map { _ in pick(Self.letters) }.joined()
    }

    mutating func searchText() -> String {
        (0..<roll(6)).map { _ in word() }.joined(separator: chance(80) ? " " : "  ")
    }

    mutating func texts() -> MapValue {
        var fields: MapValue = [:]
        if chance(90) { fields["text"] = .string(searchText()) }
        if chance(40) { fields["title"] = .string(searchText()) }
        if chance(30) {
            fields["tags"] = .array([
                .string(searchText()), .integer(3), .string(searchText()),
            ])
        }
        if chance(20) { fields["other"] = .string(searchText()) }
        return fields
    }

    mutating func terms() -> [SearchTerm] {
        (0...roll(2)).map { _ in SearchTerm(word(), isPrefix: chance(30)) }
    }

    mutating func place() -> DocumentPath {
        let parents = ["m", "r/1/m", "r/2/m", "n"]
        return DocumentPath(unchecked: "\(pick(parents))/d\(roll(30))")
    }

    mutating func searchQuery() -> Query {
        switch roll(5) {
        case 0: Query(collectionID: "m")
        case 1: Query(parent: DocumentPath(unchecked: "r/1"), collectionID: "m")
        case 2: Query(parent: DocumentPath(unchecked: "r/3"), collectionID: "m")
        case 3: Query(collectionID: "n")
        default: Query(collectionID: "m", allDescendants: true)
        }
    }
}
