import TidemarkModel

/// The members of a chat or a conversation. Its document lists them, and the security rules read
/// it.
enum Membership {
    static let field = "members"
    /// The id of the signed-in user, unless a row has another one.
    static let user = "ada"

    static func set(_ document: DocumentPath, of user: String = Self.user) -> Mutation {
        Mutation(path: document, .set([field: .array([.string(user)])]))
    }

    /// Returns the write of the chat's members; empty if the collection belongs to no chat.
    static func set(above collection: CollectionPath, of user: String = Self.user) -> [Mutation] {
        let names = collection.text.split(separator: "/")
        guard names.count == 3, names[0] == "chats" else { return [] }
        return [set(DocumentPath(unchecked: "chats/\(names[1])"), of: user)]
    }
}
