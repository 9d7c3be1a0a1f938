import Tidemark

/// The fields of a conversation's document for a chat list.
///
/// The last message and the number of messages are fields of the conversation itself, so a list of
/// 1,000 conversations is a single query, and a new message is a single read.
public struct ConversationFields: Hashable, Sendable {
    /// The way in which the number of unread messages is known.
    public enum Unread: Hashable, Sendable {
        /// The field counts all messages that were ever sent, with `FieldValue.increment(1)`.
        /// Messages after the user's mark are unread. Reading a conversation changes no document
        /// that others listen to.
        case sinceMark(total: String)
        /// The field is a map of counts by user id: the sender raises the counts of the others, and
        /// a user's own count is set to 0 when the user reads. Each such write costs a read for the
        /// list of every member.
        case ofEachUser(String)
        /// Messages are not counted: a conversation is unread while its last message is newer than
        /// the mark.
        case notCounted
    }

    /// The field with a map of the last message, or of the parts that the list shows.
    public var lastMessage: String
    /// The field with the server's time of the last message.
    public var lastMessageAt: String
    /// The field with the id of the last message's author; a user's own message is never unread for
    /// the author. A path is possible, for example into the last message.
    public var lastSender: String
    /// The way in which unread messages are counted.
    public var unread: Unread
    /// The field with the server's time of the last change of the document; nil if there is no such
    /// field.
    public var updatedAt: String?

    /// - Parameters:
    ///   - lastMessage: The field with a map of the last message.
    ///   - lastMessageAt: The field with the server's time of the last message.
    ///   - lastSender: The field with the id of the last message's author.
    ///   - unread: The way in which unread messages are counted.
    ///   - updatedAt: The field with the server's time of the last change of the document; nil if
    ///     there is no such field.
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

    /// Returns the changes of a conversation for a new message. Write them in the same batch as the
    /// message.
    ///
    /// ```swift
    /// let batch = firestore.batch()
    /// batch.setData(message, forDocument: chat.collection("messages").document())
    /// batch.updateData(fields.sending(message, from: "bob", to: ["ann"]), forDocument: chat)
    /// try await batch.commit()
    /// ```
    ///
    /// - Parameters:
    ///   - message: The parts of the message that the list shows.
    ///   - sender: The id of the author.
    ///   - others: The ids of the other members; only ``Unread/ofEachUser(_:)`` uses them.
    public func sending(
        _ message: [String: Any], from sender: String, to others: [String] = []
    ) -> [AnyHashable: Any] {
        var changes: [AnyHashable: Any] = [lastMessageAt: FieldValue.serverTimestamp()]
        let inside = lastMessage + "."
        if lastSender.hasBytePrefix(inside) {
            // The sender's field is inside the map, so the map sets it: a path of an update must
            // not be inside another.
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
    /// The count of all messages, or the map of unread counts; nil if messages are not counted.
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
