import Tidemark

/// A naive search. It cuts texts and queries of lower-case letters at spaces.
struct SearchOracle {
    var texts: [String: String] = [:]

    /// - Parameter query: Words, each perhaps with a minus before or a star behind; or a phrase.
    func search(_ query: String) -> Set<String> {
        Set(texts.filter { matches(words($0.value), query) }.keys)
    }

    private func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    private func matches(_ words: [String], _ query: String) -> Bool {
        if query.hasPrefix("\"") {
            let phrase = self.words(String(query.dropFirst().dropLast()))
            return words.indices.contains { start in
                words.count >= start + phrase.count
                    && Array(words[start..<(start + phrase.count)]) == phrase
            }
        }
        return self.words(query).allSatisfy { part in
            if part.hasPrefix("-") { return !words.contains(String(part.dropFirst())) }
            if part.hasSuffix("*") { return words.contains { $0.hasPrefix(part.dropLast()) } }
            return words.contains(part)
        }
    }
}

struct SearchDice {
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &random)
    }
    mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }

    mutating func word() -> String {
        (0..<number(1...3)).map { _ in ["a", "b", "c"][number(0...2)] }.joined()
    }

    mutating func text() -> String {
        (0..<number(0...5)).map { _ in word() }.joined(separator: " ")
    }

    mutating func query() -> String {
        if chance(20) { return "\"\(word()) \(word())\"" }
        var parts = (0..<number(1...2)).map { _ in chance(30) ? word() + "*" : word() }
        if chance(25) { parts.append("-" + word()) }
        if chance(5) { parts = ["-" + word()] }
        return parts.joined(separator: " ")
    }
}
