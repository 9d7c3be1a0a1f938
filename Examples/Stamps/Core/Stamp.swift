import ExampleKit
import Foundation
public import Tidemark
public import TidemarkFiles

/// A document of `stamps`.
public struct Stamp: Codable, Equatable, Sendable {
    public var name: String
    public var country: String
    public var createdAt: Timestamp
    /// The name of the stamp's picture.
    public var picture: String?
    /// The id of the user who has added the stamp; nil for a stamp that was issued.
    public var owner: String?
    /// The photo of a stamp that a user has added.
    public var photo: StoredFile?
}

extension Stamp {
    /// Splits a typed text at its first comma into the name of a stamp and its country; nil without
    /// a name.
    static func typed(_ text: String) -> (name: String, country: String)? {
        let parts = text.split(separator: ",", maxSplits: 1).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        guard let name = parts.first, !name.isEmpty else { return nil }
        return (name, parts.count > 1 ? parts[1] : "")
    }
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
    static let photo = "photo"
    static let owner = "owner"
    static let created = "createdAt"
    static let updated = "updatedAt"
    static let deleted = "deletedAt"
    /// The number of stamps on the first screen.
    static let window = 50
    /// The number of rows that fit on a phone. A launch loads their pictures.
    static let onScreen = 9
}
