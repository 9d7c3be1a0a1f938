import TidemarkModel

/// Replaces the parts of names that differ from run to run, so that the lines of two runs can be
/// compared.
enum ReadPattern {
    /// Returns a collection's path with `*` for the ids of documents.
    static func collection(_ path: String) -> String {
        if path.hasPrefix("(") { return path }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        return segments.enumerated().map { index, segment in
            index.isMultiple(of: 2) ? steady(String(segment)) : "*"
        }.joined(separator: "/")
    }

    /// Returns the pattern of a query's collection. `**` stands for any depth.
    static func target(of query: Query) -> String {
        if let collection = query.collection { return self.collection(collection.text) }
        let parent = query.parent.map { self.collection($0.text) + "/" } ?? ""
        return parent + (query.allDescendants ? "**" : "*")
            + (query.collectionID.map { "/" + steady($0) } ?? "")
    }

    /// Returns the query's conditions with `?` for each value.
    static func shape(of query: Query, _ aggregations: [Aggregation]) -> String {
        let words = QueryWords.shape
        var parts = words.conditions(of: query)
        if query.offset > 0 { parts.append("offset ?") }
        if let nearest = words.nearest(of: query) { parts.append(nearest) }
        let figures = aggregations.map(\.operation.words).joined(separator: ", ")
        return steady(([figures] + parts).filter { !$0.isEmpty }.joined(separator: " "))
    }

    /// Returns the text with `#` for each part that looks like a time, a random number or a random
    /// id: five or more digits, ten or more hexadecimal digits with at least two digits, a UUID, or
    /// one of Firestore's ids of 20 characters.
    static func steady(_ text: String) -> String {
        var result = ""
        var rest = Substring(text)
        while let first = rest.first {
            guard isWordPart(first) else {
                result.append(first)
                rest = rest.dropFirst()
                continue
            }
            let word = rest.prefix(while: isWordPart)
            if let uuid = uuid(at: rest) {
                result += "#"
                rest = rest.dropFirst(uuid)
                continue
            }
            result += isRandom(word) ? "#" : withoutNumbers(word)
            rest = rest.dropFirst(word.count)
        }
        return result
    }

    private static func isWordPart(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber)
    }

    private static func isRandom(_ word: Substring) -> Bool {
        let digits = word.count(where: \.isNumber)
        if word.count >= 10, digits >= 2, digits < word.count,
            word.allSatisfy({ $0.isHexDigit && !$0.isUppercase })
        {
            return true
        }
        return word.count == 20 && digits > 0 && word.contains(where: \.isUppercase)
            && word.contains(where: \.isLowercase)
    }

    /// Returns the number of characters of a UUID at the begin of the text; nil if there is none.
    private static func uuid(at text: Substring) -> Int? {
        let lengths = [8, 4, 4, 4, 12]
        let parts = text.prefix(36).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.count) == lengths, parts.allSatisfy({ $0.allSatisfy(\.isHexDigit) })
        else { return nil }
        // A longer word is no UUID.
        return text.dropFirst(36).first.map(isWordPart) ?? false ? nil : 36
    }

    private static func withoutNumbers(_ word: Substring) -> String {
        var result = ""
        var rest = word
        while let first = rest.first {
            let digits = rest.prefix(while: \.isNumber)
            if digits.isEmpty {
                result.append(first)
                rest = rest.dropFirst()
            } else {
                result += digits.count >= 5 ? "#" : String(digits)
                rest = rest.dropFirst(digits.count)
            }
        }
        return result
    }
}

extension Aggregation.Operator {
    fileprivate var words: String {
        switch self {
        case .count(nil): "count"
        case .count: "count up to ?"
        case .sum(let field): "sum of \(field)"
        case .average(let field): "average of \(field)"
        }
    }
}
