/// The value of a field with a file, for documents that are `Codable`.
public struct StoredFile: Codable, Hashable, Sendable {
    /// The object's name in the bucket.
    public var path: String
    /// The size in bytes.
    public var size: Int64
    /// The MIME type.
    public var type: String
    /// The SHA-256 digest of the bytes, in hexadecimal digits.
    public var hash: String

    public init(path: String, size: Int64, type: String, hash: String) {
        self.path = path
        self.size = size
        self.type = type
        self.hash = hash
    }
}

/// The value of a field whose file follows its document (``FilePolicy/documentFirst``), for
/// documents that are `Codable`.
public enum ArrivingFile: Codable, Hashable, Sendable {
    /// The file is not in Storage yet, so readers show a placeholder of its size in bytes and its
    /// MIME type. The device that sends the file has the other case at once.
    case pending(size: Int64, type: String)
    case stored(StoredFile)

    private enum CodingKeys: String, CodingKey { case pending, size, type }

    public init(from decoder: any Decoder) throws {
        let map = try decoder.container(keyedBy: CodingKeys.self)
        guard try map.decodeIfPresent(Bool.self, forKey: .pending) == true else {
            self = .stored(try StoredFile(from: decoder))
            return
        }
        self = .pending(
            size: try map.decode(Int64.self, forKey: .size),
            type: try map.decode(String.self, forKey: .type))
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .stored(let file): try file.encode(to: encoder)
        case .pending(let size, let type):
            var map = encoder.container(keyedBy: CodingKeys.self)
            try map.encode(true, forKey: .pending)
            try map.encode(size, forKey: .size)
            try map.encode(type, forKey: .type)
        }
    }
}
