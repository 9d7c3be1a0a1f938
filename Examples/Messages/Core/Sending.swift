public import Tidemark

extension Message {
    /// Puts it, and with it the conversation's last line, into the durable queue. Returns when both are on
    /// disk.
    func enqueue(in conversation: DocumentReference) async throws -> WriteReceipt {
        let batch = conversation.firestore.batch()
        try batch.setData(from: self, forDocument: conversation.collection("messages").document())
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
        try await Message(author: me, text: text, sentAt: now())
            .enqueue(in: firestore.collection("conversations").document(id))
    }
}
