import TidemarkModel

/// The part of the stage `search` that holds an expression.
enum SearchPlace: Sendable {
    case none
    case query
    /// The order and the added fields, where a score exists.
    case result
}

/// The functions of the stage `search`.
enum TextSearch {
    static let functions: [String: (function: Function, places: Set<SearchPlace>)] = [
        "document_matches": (documentMatches, [.query]),
        "geo_distance": (geoDistance, [.query, .result]),
        "score": (score, [.result]),
    ]

    private static let documentMatches = Function.lazily(
        "document_matches", takes: 1...1
    ) { arguments, scope in
        guard case .value(.string(let text)) = arguments[0].evaluate(scope) else {
            return .error("document_matches expects a string.")
        }
        return .boolean(SearchQuery(text).matches(SearchWords(scope.row.fields)))
    }

    private static let score = Function.lazily("score", takes: 0...0) { _, scope in
        .value(.double(scope.row.score ?? 0))
    }

    /// The distance on a sphere, in metres.
    private static let geoDistance = Function.ofValues(
        "geo_distance", takes: 2...2
    ) { values, _ throws(Fault) in
        guard case .geoPoint(let a) = values[0], case .geoPoint(let b) = values[1] else {
            throw Fault("geo_distance expects two points.")
        }
        return .value(.double(RealMath.distance(from: a, to: b)))
    }
}

/// The words of a document's strings, at any depth, with the number of their occurrences.
struct SearchWords {
    private(set) var counts: [String: Int] = [:]
    /// The words in order, for phrases. An empty word separates two strings.
    private(set) var sequence: [String] = []

    init(_ fields: MapValue) { add(.map(fields)) }

    private mutating func add(_ value: Value) {
        switch value {
        case .string(let text):
            for word in Self.words(of: text) {
                counts[word, default: 0] += 1
                sequence.append(word)
            }
            sequence.append("")
        case .array(let values): for value in values { add(value) }
        case .map(let fields): for entry in fields { add(entry.value) }
        default: return
        }
    }

    /// Returns the words of a text: runs of letters and digits, in lower case.
    static func words(of text: String) -> [String] {
        text.lowercased().unicodeScalars
            .split { !$0.properties.isAlphabetic && $0.properties.numericType == nil }
            .map { String($0) }
    }

    func contains(phrase: [String]) -> Bool {
        guard let first = phrase.first else { return true }
        return sequence.indices.contains { index in
            sequence[index] == first && sequence[index...].starts(with: phrase)
        }
    }
}

/// The text of a search: words, `"phrases"`, and words with a minus, which a document must not
/// contain.
struct SearchQuery: Sendable {
    private var wanted: [[String]] = []
    private var unwanted: [[String]] = []

    init(_ text: String) {
        var rest = text[...]
        while let first = rest.first {
            if first == " " {
                rest.removeFirst()
                continue
            }
            let isUnwanted = first == "-"
            if isUnwanted { rest.removeFirst() }
            let isPhrase = rest.first == "\""
            if isPhrase { rest.removeFirst() }
            let part = rest.prefix { $0 != (isPhrase ? "\"" : " ") }
            rest = rest[part.endIndex...].dropFirst()
            let words = SearchWords.words(of: String(part))
            if words.isEmpty { continue }
            if isUnwanted { unwanted.append(words) } else { wanted.append(words) }
        }
    }

    /// True if a document has every wanted phrase and no unwanted one.
    func matches(_ words: SearchWords) -> Bool {
        wanted.allSatisfy(words.contains(phrase:))
            && !unwanted.contains(where: words.contains(phrase:))
    }

    /// Returns how well a document fits, from 0 to 1: more occurrences count more, each less than
    /// the one before.
    func score(_ words: SearchWords) -> Double {
        let terms = wanted.flatMap { $0 }
        if terms.isEmpty { return 0 }
        let sum = terms.reduce(0.0) { total, term in
            let count = Double(words.counts[term] ?? 0)
            return total + count / (count + 1.2)
        }
        return sum / Double(terms.count)
    }
}
