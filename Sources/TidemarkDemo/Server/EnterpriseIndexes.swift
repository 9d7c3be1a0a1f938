import Foundation
import TidemarkModel

/// The indexes that the example apps need in a database of the Enterprise edition, which makes none
/// itself. Without one, a query scans its collection.
enum EnterpriseIndexes {
    private struct File: Encodable {
        var indexes: [Index]
        var fieldOverrides: [String] = []
    }

    private struct Index: Encodable {
        let collectionGroup: String
        var queryScope = "COLLECTION"
        let fields: [[String: String]]

        /// - Parameter fields: The names of ascending fields, with `-` before a descending one and
        ///   `@` before an array.
        init(_ collection: String, _ fields: String...) {
            collectionGroup = collection
            self.fields = fields.map { field in
                let name = String(field.drop { "-@".contains($0) })
                if field.hasPrefix("@") {
                    return ["fieldPath": name, "arrayConfig": "CONTAINS"]
                }
                let order = field.hasPrefix("-") ? "DESCENDING" : "ASCENDING"
                return ["fieldPath": name, "order": order]
            }
        }
    }

    /// Returns the options of a server whose database is of an edition.
    ///
    /// - Parameter folder: The folder into which the indexes of the Enterprise edition are written.
    static func options(of edition: DatabaseEdition, in folder: URL) throws -> [String] {
        if edition == .standard { return [] }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let indexes = folder.appendingPathComponent("firestore.indexes.json")
        try write(to: indexes)
        return ["--edition", "enterprise", "--indexes", indexes.path]
    }

    /// Writes a `firestore.indexes.json`.
    private static func write(to file: URL) throws {
        let lists = [
            ("messages", "sentAt"), ("notifications", "createdAt"), ("posts", "createdAt"),
            ("calls", "startedAt"), ("purchases", "purchasedAt"), ("media", "sharedAt"),
            ("blocked", "blockedAt"), ("stamps", "createdAt"), ("members", "joinedAt"),
        ].flatMap { collection, time in
            [
                Index(collection, "-" + time), Index(collection, time),
                Index(collection, "updatedAt"),
            ]
        }
        let others = [
            Index("chats", "@members", "-lastMessageAt"), Index("chats", "@members", "updatedAt"),
            Index("presence", "lastSeen"), Index("presence", "-lastSeen"),
            Index("users", "searchName"), Index("users", "totalStamps"),
            Index("days", "updatedAt"), Index("days", "-day"),
            Index("messages", "conversationId", "-timestamp"),
            Index("messages", "conversationId", "updatedAt"),
            Index("conversations", "@members", "-lastMessageAt"),
            Index("conversations", "@members", "updatedAt"), Index("conversations", "@members"),
        ]
        try JSONEncoder().encode(File(indexes: lists + others)).write(to: file)
    }
}
