public import Foundation

extension Firestore {
    /// What a `Date` is in a document.
    public enum DateEncodingStrategy: Sendable {
        /// What the date says of itself: seconds since 2001, a number.
        case deferredToDate
        case secondsSince1970
        case millisecondsSince1970
        /// A text, as in `2026-11-21T10:00:00Z`.
        case iso8601
        case formatted(DateFormatter)
        case custom(@Sendable (Date, any Swift.Encoder) throws -> Void)
        /// A ``Timestamp``.
        case timestamp
    }

    public enum DateDecodingStrategy: Sendable {
        case deferredToDate
        case secondsSince1970
        case millisecondsSince1970
        case iso8601
        case formatted(DateFormatter)
        case custom(@Sendable (any Swift.Decoder) throws -> Date)
        case timestamp
    }

    /// What `Data` are in a document.
    public enum DataEncodingStrategy: Sendable {
        /// What the data say of themselves: an array of numbers.
        case deferredToData
        case base64
        case custom(@Sendable (Data, any Swift.Encoder) throws -> Void)
        /// Bytes.
        case blob
    }

    public enum DataDecodingStrategy: Sendable {
        case deferredToData
        case base64
        case custom(@Sendable (any Swift.Decoder) throws -> Data)
        case blob
    }

    /// What becomes of infinities and NaN.
    public enum NonConformingFloatEncodingStrategy: Hashable, Sendable {
        case `throw`
        case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    public enum NonConformingFloatDecodingStrategy: Hashable, Sendable {
        case `throw`
        case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// How a key of the type becomes the name of a field.
    public enum KeyEncodingStrategy: Sendable {
        case useDefaultKeys
        /// `oneTwo` becomes `one_two`.
        case convertToSnakeCase
        case custom(@Sendable ([any CodingKey]) -> any CodingKey)
    }

    public enum KeyDecodingStrategy: Sendable {
        case useDefaultKeys
        /// `one_two` becomes `oneTwo`.
        case convertFromSnakeCase
        case custom(@Sendable ([any CodingKey]) -> any CodingKey)
    }
}

/// A key of any text, or of a place in an array.
struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }

    static let `super` = AnyKey(stringValue: "super")
}

/// Snake case, by the rules of Foundation's coders: underscores at both ends stay, and of capitals in a
/// row the last one begins the next word.
enum SnakeCase {
    static func encode(_ key: String) -> String {
        let letters = Array(key)
        var result = ""
        for (index, letter) in letters.enumerated() {
            guard letter.isUppercase, index > 0 else {
                result += letter.lowercased()
                continue
            }
            let previous = letters[index - 1]
            let endsRow = index + 1 < letters.count && letters[index + 1].isLowercase
            if previous != "_", !previous.isUppercase || endsRow { result += "_" }
            result += letter.lowercased()
        }
        return result
    }

    static func decode(_ key: String) -> String {
        guard let first = key.firstIndex(where: { $0 != "_" }),
            let last = key.lastIndex(where: { $0 != "_" })
        else { return key }
        let words = key[first...last].split(separator: "_")
        guard words.count > 1 else { return key }
        let joined =
            words[0].lowercased()
            + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
            .joined()
        return String(key[..<first]) + joined + String(key[key.index(after: last)...])
    }
}
