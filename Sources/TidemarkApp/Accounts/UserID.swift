/// The id of the signed-in user. It is never empty, so "signed in without a user" cannot be
/// expressed.
public struct UserID: Hashable, Sendable, Codable {
    /// Source: Firebase Authentication's limit of a uid.
    public static let maxBytes = 128

    public let text: String

    /// Creates an id; nil if the text is empty, longer than 128 bytes, or no name of a document: it
    /// contains a slash, or is `.`, `..` or `__…__`.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let isReserved = bytes.starts(with: "__".utf8) && bytes.suffix(2).elementsEqual("__".utf8)
        guard (1...Self.maxBytes).contains(bytes.count), !bytes.contains(UInt8(ascii: "/")),
            bytes != [UInt8(ascii: ".")], bytes != Array("..".utf8), !isReserved
        else { return nil }
        self.text = text
    }

    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let user = UserID(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "no id of a user"))
        }
        self = user
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    /// Compares the bytes of two ids: Swift's `==` treats some different texts as equal.
    public static func == (left: UserID, right: UserID) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}

extension UserID: CustomStringConvertible {
    public var description: String { text }
}
