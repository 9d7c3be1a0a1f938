public import Foundation

/// A sentence for the person using the app: a key, arguments, and the English text.
///
/// An app in another language has a table named `Tidemark` (a string catalogue, or `Tidemark.strings`) in
/// its main bundle, with the keys of the article *Sentences for people*; what the table lacks stays English.
/// `%1$@`, `%2$@` stand for the arguments, in the table as here.
public struct Sentence: Hashable, Sendable {
    /// The name of the table in an app's bundle.
    public static let table = "Tidemark"

    /// As in `account.addressTaken`: the same for as long as the sentence means the same.
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

    /// The sentence in the language of the app, or in English where its table has none.
    ///
    /// - Parameter bundle: Where the table is.
    public func localized(in bundle: Bundle = .main) -> String {
        filled(bundle.localizedString(forKey: key, value: english, table: Self.table))
    }

    /// The sentence in the words of a table of your own: its value for the key.
    public func localized(by table: (_ key: String) -> String?) -> String {
        filled(table(key) ?? english)
    }

    /// In one pass, so that an argument that looks like a place for one stays as it is.
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

    /// `%1$@` at the start, as the argument's index from 0 and the length of the place.
    private static func place(at text: Substring) -> (index: Int, length: Int)? {
        let digits = text.dropFirst().prefix { ("0"..."9").contains($0) }
        guard let number = Int(digits), number > 0 else { return nil }
        guard text.dropFirst(1 + digits.count).hasPrefix("$@") else { return nil }
        return (number - 1, digits.count + 3)
    }
}

extension Sentence: CustomStringConvertible {
    /// In the language of the app.
    public var description: String { localized() }
}
