public import Observation
import Tidemark
import TidemarkLivePipelines

/// Finds words in the messages that are on this device, in all chats, while the user types. It
/// costs no reads and works offline.
@MainActor @Observable
public final class MessageSearchModel {
    public struct Found: Identifiable, Hashable, Sendable {
        public let chat: String
        public let message: ChatMessage
        public var id: String { chat + "/" + (message.id ?? "") }
    }

    /// The messages with the words, the newest first; at most ``limit``.
    public private(set) var found: [Found] = []
    /// The reason why the last search failed, as a sentence for the user.
    public private(set) var problem: String?
    /// The maximum number of messages.
    public nonisolated static let limit = 50

    /// The words of messages, which the device keeps an index of.
    nonisolated static let words = WordIndex(collectionID: "messages", fields: ["text"])

    @ObservationIgnored private let firestore: Firestore
    @ObservationIgnored private var searching: Task<Void, Never>?

    init(_ firestore: Firestore) {
        self.firestore = firestore
        searching = Task { _ = try? await firestore.setWordIndexes([Self.words]) }
    }

    /// Finds the messages that have all words of a text; the last word may be incomplete. A search
    /// ends the one before it.
    public func search(_ text: String) {
        let before = searching
        before?.cancel()
        searching = Task { [weak self, firestore] in
            await before?.value
            if Task.isCancelled { return }
            do {
                let found = try await Self.messages(with: text, in: firestore)
                if Task.isCancelled { return }
                self?.found = found
                self?.problem = nil
            } catch {
                self?.problem = (error as? FirestoreError)?.message
            }
        }
    }

    private static func messages(
        with text: String, in firestore: Firestore
    ) async throws -> [Found] {
        // Quotes, and a minus or `OR`, have no meaning in what a user types.
        let words = text.lowercased().split { !$0.isLetter && !$0.isNumber }
        if words.isEmpty { return [] }
        let snapshot = try await firestore.pipeline().collectionGroup("messages")
            .search(query: words.joined(separator: " ") + "*")
            .where(Field("deletedAt").isAbsent())
            .sort([Field("sentAt").descending()]).limit(Int32(limit))
            .execute(source: .cache)
        return try zip(snapshot.results, snapshot.decoded(as: ChatMessage.self)).map {
            row, message in
            Found(chat: row.ref?.parent.parent?.documentID ?? "", message: message)
        }
    }
}
