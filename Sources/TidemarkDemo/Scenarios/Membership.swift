import TidemarkModel

/// Who takes part in a chat or a conversation: its document says so, and the security rules ask it.
enum Membership {
    static let field = "members"
    /// Who is signed in, where a row does not say otherwise.
    static let user = "ada"

    static func set(_ document: DocumentPath, of user: String = Self.user) -> Mutation {
        Mutation(path: document, .set([field: .array([.string(user)])]))
    }

    /// Nothing for a collection that is no chat's.
    static func set(above collection: CollectionPath, of user: String = Self.user) -> [Mutation] {
        let names = collection.text.split(separator: "/")
        guard names.count == 3, names[0] == "chats" else { return [] }
        return [set(DocumentPath(unchecked: "chats/\(names[1])"), of: user)]
    }
}
