import ExampleKit
public import Tidemark

/// A document of `stamps`.
public struct Stamp: Codable, Equatable, Sendable {
    public var name: String
    public var country: String
    public var createdAt: Timestamp
    /// The name of its picture.
    public var picture: String?
}

/// A document of `users`.
struct Collector: Codable, Equatable, Sendable {
    var name: String
    var totalStamps: Int
}

/// Where the app keeps its documents.
enum Paths {
    static let stamps = "stamps"
    static let users = "users"
    static let total = "totalStamps"
    static let created = "createdAt"
    static let updated = "updatedAt"
    static let deleted = "deletedAt"
    /// Stamps on the first screen.
    static let window = 50
    /// Rows that a phone has room for: their pictures are loaded at a launch.
    static let onScreen = 9
}
