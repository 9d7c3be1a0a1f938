public import Tidemark

extension Firestore {
    /// Of all conversations.
    var messages: CollectionReference { collection("messages") }
}

extension DocumentReference {
    /// Of this conversation.
    var messages: Query { firestore.messages.whereField("conversationId", isEqualTo: documentID) }
}

extension Message {
    /// Puts it, and with it the conversation's last line, into the durable queue. Returns when both are on
    /// disk.
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
    /// Sends without opening the conversation, and so without reading it: from a notification or a share
    /// sheet. As ``ConversationModel/send(_:)`` it returns when the message is on disk.
    ///
    /// - Parameter id: Of the conversation.
    /// - Returns: Tells when the server has it, or why it was refused.
    @discardableResult
    public func reply(_ text: String, in id: String) async throws -> WriteReceipt {
        try await Message(in: id, author: me, text: text, timestamp: now())
            .enqueue(in: firestore.collection("conversations").document(id))
    }
}
