public import Tidemark

extension Firestore {
    /// The messages of all conversations.
    var messages: CollectionReference { collection("messages") }
}

extension DocumentReference {
    /// The messages of this conversation.
    var messages: Query { firestore.messages.whereField("conversationId", isEqualTo: documentID) }
}

extension Message {
    /// Puts the message and the conversation's last line into the durable queue. Returns when both
    /// are on disk.
    func enqueue(in conversation: DocumentReference) async throws -> WriteReceipt {
        let batch = conversation.firestore.batch()
        try batch.setData(from: self, forDocument: conversation.firestore.messages.document())
        batch.updateData(
            [
                "lastText": text, "lastMessageAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ], forDocument: conversation)
        let receipt = try await batch.enqueue()
        guard let receipt else { preconditionFailure("a batch of two writes has a receipt") }
        return receipt
    }
}

extension MessagesApp {
    /// Sends a message without opening the conversation, so it reads nothing. Use it for a
    /// notification or a share sheet. Returns when the message is on disk, like
    /// ``ConversationModel/send(_:)``.
    ///
    /// - Parameter id: The id of the conversation.
    /// - Returns: A receipt that reports when the server has the message, or why it was refused.
    @discardableResult
    public func reply(_ text: String, in id: String) async throws -> WriteReceipt {
        try await Message(in: id, author: me, text: text, timestamp: now())
            .enqueue(in: firestore.collection("conversations").document(id))
    }
}
