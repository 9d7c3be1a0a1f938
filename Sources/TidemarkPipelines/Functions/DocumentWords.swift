import TidemarkModel

/// The words of a document's texts, with the number of their occurrences.
struct DocumentWords {
    private(set) var counts: [ByteString: Int] = [:]
    /// The words in order, for phrases. An empty word separates two texts.
    private var sequence: [String] = []

    /// - Parameter fields: The fields whose texts are searched; nil for all. Texts inside their
    ///   arrays and maps belong to them.
    init(_ document: MapValue, in fields: [FieldPath]?) {
        if let fields {
            for field in fields {
                if let value = document[field] { add(value) }
            }
        } else {
            add(.map(document))
        }
    }

    private mutating func add(_ value: Value) {
        SearchWords.forEachText(in: value) { text in
            for word in SearchWords.words(of: text) {
                counts[ByteString(word), default: 0] += 1
                sequence.append(word)
            }
            sequence.append("")
        }
    }

    func contains(_ phrase: [SearchTerm]) -> Bool {
        sequence.indices.contains { start in
            let rest = sequence[start...]
            return rest.count >= phrase.count
                && zip(phrase, rest).allSatisfy { $0.matches($1) }
        }
    }

    /// Returns how often words fit a term.
    func count(of term: SearchTerm) -> Int {
        guard term.isPrefix else { return counts[ByteString(term.word)] ?? 0 }
        return counts.reduce(0) { $0 + (term.matches($1.key.text) ? $1.value : 0) }
    }
}
