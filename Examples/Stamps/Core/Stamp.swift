import ExampleKit
public import Tidemark

/// A document of `stamps`.
public struct Stamp: Codable, Equatable, Sendable {
    public var name: String
    public var country: String
    public var createdAt: Timestamp
    /// The name of the stamp's picture.
    public var picture: String?
}

/// A document of `users`.
struct Collector: Codable, Equatable, Sendable {
    var name: String
    var totalStamps: Int
}

/// The app's collections, fields and sizes.
enum Paths {
    static let stamps = "stamps"
    static let users = "users"
    static let total = "totalStamps"
    static let created = "createdAt"
    static let updated = "updatedAt"
    static let deleted = "deletedAt"
    /// The number of stamps on the first screen.
    static let window = 50
    /// The number of rows that fit on a phone. A launch loads their pictures.
    static let onScreen = 9
}
