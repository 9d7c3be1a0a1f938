public import Foundation

/// A sentence for the users of an app: a key, arguments, and the English text.
///
/// For another language, an app's main bundle has a table named `Tidemark` (a string catalogue, or
/// `Tidemark.strings`) with the keys of the article *Sentences for people*. Sentences that the
/// table lacks stay English. `%1$@` and `%2$@` mark the arguments, in the table and here.
public struct Sentence: Hashable, Sendable {
    /// The name of the table in an app's bundle.
    public static let table = "Tidemark"

    /// The key, for example `account.addressTaken`. It never changes its meaning.
    public let key: String
    /// The English text, with `%1$@` for the first argument.
    public let english: String
    public let arguments: [String]

    public init(_ key: String, _ english: String, arguments: [String] = []) {
        precondition(!key.isEmpty && !english.isEmpty, "a sentence has a key and says something")
        self.key = key
        self.english = english
        self.arguments = arguments
    }

    /// Returns the sentence in the app's language, or in English if the app's table lacks it.
    ///
    /// - Parameter bundle: The bundle with the table.
    public func localized(in bundle: Bundle = .main) -> String {
        filled(bundle.localizedString(forKey: key, value: english, table: Self.table))
    }

    /// Returns the sentence with a text of your own table, given by key.
    public func localized(by table: (_ key: String) -> String?) -> String {
        filled(table(key) ?? english)
    }

    /// Inserts the arguments in one pass, so an argument that looks like a mark is not replaced.
    private func filled(_ format: String) -> String {
        if arguments.isEmpty { return format }
        var result = ""
        var rest = Substring(format)
        while let percent = rest.firstIndex(of: "%") {
            result += rest[..<percent]
            rest = rest[percent...]
            guard let place = Self.place(at: rest), arguments.indices.contains(place.index) else {
                result.append("%")
                rest = rest.dropFirst()
                continue
            }
            result += arguments[place.index]
            rest = rest.dropFirst(place.length)
        }
        return result + rest
    }

    /// Parses a mark like `%1$@` at the start of the text. Returns the argument's index from 0 and
    /// the length of the mark.
    private static func place(at text: Substring) -> (index: Int, length: Int)? {
        let digits = text.dropFirst().prefix { ("0"..."9").contains($0) }
        guard let number = Int(digits), number > 0 else { return nil }
        guard text.dropFirst(1 + digits.count).hasPrefix("$@") else { return nil }
        return (number - 1, digits.count + 3)
    }
}

extension Sentence: CustomStringConvertible {
    /// The sentence in the app's language.
    public var description: String { localized() }
}
