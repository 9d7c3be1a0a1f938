import Foundation
public import Tidemark

/// The result of counting unread messages.
public struct UnreadCounting: Hashable, Sendable {
    /// The number of conversations that were counted.
    public internal(set) var conversations = 0
    /// The number of billed reads: one for each 1,000 messages of a conversation, at least one.
    public internal(set) var reads = 0
}

extension ConversationList {
    /// The number of conversations whose unread messages are not counted in their documents, so
    /// that a badge can only say "at least one". ``countUnread(messages:sentAt:most:)`` costs as
    /// many reads, as long as each has at most 1,000 unread messages. Asks no server.
    public var uncounted: Int { uncountedRows.count }

    /// Counts the unread messages of conversations in which nobody counts them, on the server, once
    /// for each. The counts are kept on the device until the user has seen the conversation. A
    /// later message makes the number one larger, and inexact again.
    ///
    /// ```swift
    /// print("\(await list.uncounted) reads")
    /// let counting = try await list.countUnread(messages: "Messages", sentAt: "sentAt")
    /// ```
    ///
    /// Senders that write ``ConversationFields/sending(_:from:to:)`` make it needless.
    ///
    /// - Parameters:
    ///   - messages: The id of the subcollection of a conversation with its messages.
    ///   - sentAt: The field of a message with its time, of the same clock as the time of the last
    ///     message in the conversation's document.
    ///   - most: The maximum number of conversations to count, those with the latest messages
    ///     first.
    /// - Returns: The number of counted conversations, and what they cost.
    /// - Throws: The error of the server or the disk; counts that were made before are kept.
    @discardableResult
    public func countUnread(
        messages: String = "messages", sentAt: String = "sentAt", most: Int = 100
    ) async throws(FirestoreError) -> UnreadCounting {
        guard most > 0 else {
            throw .invalidArgument("At least 1 conversation can be counted, not \(most).")
        }
        var result = UnreadCounting()
        for row in uncountedRows.prefix(most) {
            guard let document = state.items.first(where: { ByteString($0.id) == row.id })?.document
            else { continue }
            let query = document.reference.collection(messages)
                .whereField(sentAt, isGreaterThan: row.since)
            // Each count is stored before the next is asked, so that nothing is paid twice.
            // tidemark:ignore read-in-loop a count of each conversation, once, and bounded
            let answer = try await query.count.getAggregation(source: .server)
            let unread = Int(truncating: answer.count)
            result.conversations += 1
            result.reads += max(1, (unread + 999) / 1_000)
            try await take(
                ConversationCount(lastMessageAt: row.lastMessageAt, unread: max(1, unread)),
                of: row.id)
        }
        return result
    }
}
