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
