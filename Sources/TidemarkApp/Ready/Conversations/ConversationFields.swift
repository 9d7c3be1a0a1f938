import Tidemark

/// Where a conversation's document keeps what a chat list shows of it.
///
/// The last message and the number of messages are fields of the conversation itself, so that a list of
/// 1,000 conversations is one query, and a new message is one read.
public struct ConversationFields: Hashable, Sendable {
    /// How it is known how many messages somebody has not seen.
    public enum Unread: Hashable, Sendable {
        /// The field counts all messages that were ever sent, with `FieldValue.increment(1)`. Unread is
        /// what was sent after the user's mark. Reading a conversation changes no document that
        /// others listen to.
        case sinceMark(total: String)
        /// The field is a map of counts by user id: the sender raises those of the others, and a user's
        /// own is set to 0 when they read. Each reading is a write that every member's list is billed
        /// a read for.
        case ofEachUser(String)
        /// Nothing is counted: a conversation is unread while its last message is newer than the mark.
        case notCounted
    }

    /// A map with the last message, or whatever the list shows of it.
    public var lastMessage: String
    /// The server's time of the last message.
    public var lastMessageAt: String
    /// The id of who wrote the last message; what one wrote is never unread to oneself. A path, as into
    /// the last message.
    public var lastSender: String
    /// How unread messages are counted.
    public var unread: Unread
    /// The server's time of the last change of the document; nil where it has none.
    public var updatedAt: String?

    /// - Parameters:
    ///   - lastMessage: A map with the last message.
    ///   - lastMessageAt: The server's time of the last message.
    ///   - lastSender: The id of who wrote it.
    ///   - unread: How unread messages are counted.
    ///   - updatedAt: The server's time of the last change of the document; nil where it has none.
    public init(
        lastMessage: String = "lastMessage", lastMessageAt: String = "lastMessageAt",
        lastSender: String = "lastMessage.senderId",
        unread: Unread = .sinceMark(total: "messageCount"), updatedAt: String? = "updatedAt"
    ) {
        self.lastMessage = lastMessage
        self.lastMessageAt = lastMessageAt
        self.lastSender = lastSender
        self.unread = unread
        self.updatedAt = updatedAt
    }

    /// What a new message changes in its conversation. To be written in one batch with the message.
    ///
    /// ```swift
    /// let batch = firestore.batch()
    /// batch.setData(message, forDocument: chat.collection("messages").document())
    /// batch.updateData(fields.sending(message, from: "bob", to: ["ann"]), forDocument: chat)
    /// try await batch.commit()
    /// ```
    ///
    /// - Parameters:
    ///   - message: What the list is to show of it.
    ///   - sender: The id of who writes it.
    ///   - others: The ids of the other members; used by ``Unread/ofEachUser(_:)`` alone.
    public func sending(
        _ message: [String: Any], from sender: String, to others: [String] = []
    ) -> [AnyHashable: Any] {
        var changes: [AnyHashable: Any] = [lastMessageAt: FieldValue.serverTimestamp()]
        let inside = lastMessage + "."
        if lastSender.hasBytePrefix(inside) {
            // A field of the map is set with it: one path must not lie in another.
            var message = message
            message[String(lastSender.dropFirst(inside.count))] = sender
            changes[lastMessage] = message
        } else {
            changes[lastMessage] = message
            changes[lastSender] = sender
        }
        if let updatedAt { changes[updatedAt] = FieldValue.serverTimestamp() }
        switch unread {
        case .sinceMark(let total): changes[total] = FieldValue.increment(Int64(1))
        case .ofEachUser(let counts):
            for other in others {
                changes[FieldPath([counts, other])] = FieldValue.increment(Int64(1))
            }
            changes[FieldPath([counts, sender])] = Int64(0)
        case .notCounted: break
        }
        return changes
    }
}

/// Fields with their texts parsed.
struct ParsedConversationFields: Sendable {
    let lastMessageAt: FieldPath
    let lastSender: FieldPath
    /// Of all messages, or of the user's unread ones; nil where nothing is counted.
    let count: FieldPath?
    let user: String
    let isSinceMark: Bool
    let isOfEachUser: Bool

    init(_ fields: ConversationFields, user: String) throws(FirestoreError) {
        self.user = user
        lastMessageAt = try fields.lastMessageAt.resolved()
        lastSender = try fields.lastSender.resolved()
        switch fields.unread {
        case .sinceMark(let total):
            count = try total.resolved()
            (isSinceMark, isOfEachUser) = (true, false)
        case .ofEachUser(let counts):
            count = FieldPath(try counts.resolved().segments + [user])
            (isSinceMark, isOfEachUser) = (false, true)
        case .notCounted:
            count = nil
            (isSinceMark, isOfEachUser) = (false, false)
        }
    }

    func row(_ document: QueryDocumentSnapshot) -> ConversationRow<QueryDocumentSnapshot> {
        let fields = document.fields ?? MapValue()
        let value = fields[lastMessageAt]
        var isOwn = false
        if case .string(let sender)? = fields[lastSender] {
            isOwn = sender.hasSameBytes(as: user)
        }
        var number: Int?
        switch count.flatMap({ fields[$0] }) {
        case .integer(let count)?: number = Int(clamping: count)
        case .double(let count)?: number = Int(exactly: count.rounded(.down))
        default: break
        }
        var isEstimated = false
        if case .pendingServerTimestamp? = value { isEstimated = true }
        return ConversationRow(
            id: ByteString(document.documentID), content: document,
            lastMessageAt: ParsedDefinition.time(value), isTimeEstimated: isEstimated,
            count: number, isOwn: isOwn, createTime: document.createTime)
    }
}
