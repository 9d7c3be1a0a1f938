package import TidemarkModel

/// The text of a search: words, `"phrases"`, and either with a minus, which a document must not
/// contain. On a device also the beginnings of words: `te*`.
package struct SearchQuery: Hashable, Sendable {
    private var wanted: [[SearchTerm]] = []
    private var unwanted: [[SearchTerm]] = []

    /// - Parameter allowsPrefixes: True if a star may end a word.
    /// - Throws: ``PipelineError`` of code `invalidArgument` that names a form of which nothing is
    ///   known.
    package init(_ text: String, allowsPrefixes: Bool) throws(PipelineError) {
        var rest = text.unicodeScalars[...]
        while let first = rest.first {
            if first.properties.isWhitespace {
                rest.removeFirst()
                continue
            }
            let isUnwanted = first == "-"
            if isUnwanted { rest.removeFirst() }
            let isPhrase = rest.first == "\""
            if isPhrase { rest.removeFirst() }
            let part = rest.prefix { isPhrase ? $0 != "\"" : !$0.properties.isWhitespace }
            rest = rest[part.endIndex...]
            if isPhrase { rest = rest.dropFirst() }
            let terms = try Self.terms(
                String(part), isPhrase: isPhrase, allowsPrefixes: allowsPrefixes)
            if terms.isEmpty { continue }
            if isUnwanted { unwanted.append(terms) } else { wanted.append(terms) }
        }
    }

    private static func terms(
        _ part: String, isPhrase: Bool, allowsPrefixes: Bool
    ) throws(PipelineError) -> [SearchTerm] {
        let words = SearchWords.words(of: part)
        if isPhrase { return words.map { SearchTerm($0) } }
        if part.hasSameBytes(as: "OR") {
            throw .invalid("The form OR of a search is not supported.")
        }
        let isPrefix = part.utf8.last == UInt8(ascii: "*") && !words.isEmpty
        if isPrefix, !allowsPrefixes {
            throw .invalid("The form \(part) of a search is not known in production.")
        }
        return words.enumerated().map { index, word in
            SearchTerm(word, isPrefix: isPrefix && index == words.count - 1)
        }
    }

    /// The terms that every matching document contains.
    package var terms: [SearchTerm] { wanted.flatMap { $0 } }

    /// True if a document has every wanted phrase and no unwanted one.
    func matches(_ words: DocumentWords) -> Bool {
        wanted.allSatisfy(words.contains) && !unwanted.contains(where: words.contains)
    }

    /// Returns how well a document fits, from 0 to 1: more occurrences count more, each less than
    /// the one before.
    func score(_ words: DocumentWords) -> Double {
        let terms = terms
        if terms.isEmpty { return 0 }
        let sum = terms.reduce(0.0) { total, term in
            let count = Double(words.count(of: term))
            return total + count / (count + 1.2)
        }
        return sum / Double(terms.count)
    }
}
