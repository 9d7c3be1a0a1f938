public import Observation
public import Tidemark
import TidemarkApp
public import TidemarkResilience

/// One conversation: its newest page is live, older pages come from disk where the device holds them, and
/// what is sent is safe before the call returns.
@MainActor @Observable
public final class ConversationModel {
    public let messages: PagedList<Message>
    /// Oldest first, without those that were refused.
    public var shown: [Message] {
        let refused = Set(refused.map(\.message))
        return messages.items.filter { !refused.contains($0.id ?? "") }
    }
    /// What the server refused, oldest first.
    public private(set) var refused: [RefusedMessage] = []
    /// Why the last action failed, in a sentence; nil after one that succeeded.
    public private(set) var problem: String?
    /// For what the person asks for. Listeners and sends try again by themselves.
    @ObservationIgnored public var retry = RetryPolicy.mobile

    @ObservationIgnored private let conversation: DocumentReference
    @ObservationIgnored private let me: String
    @ObservationIgnored private let now: @Sendable () -> Timestamp
    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Begins to listen; ends with ``close()``.
    ///
    /// - Throws: `invalidArgument` when the reference names no document.
    public init(
        _ conversation: DocumentReference, me: String, now: @escaping @Sendable () -> Timestamp,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws(FirestoreError) {
        self.conversation = conversation
        self.me = me
        self.now = now
        let pager = try Pager(
            conversation.messages, orderedBy: "timestamp",
            pagesFromDisk: .keptRight(changeTime: "updatedAt", deletedField: "deletedAt"))
        messages = PagedList(pager, of: conversation.firestore, clock: clock)
        let queue = conversation.firestore.writeQueueStates
        watching = Task { [weak self] in
            for await _ in queue { await self?.readRefused() }
        }
    }

    deinit { watching?.cancel() }

    /// Returns when the message is on disk, also without a network: it is shown from then on, sent in
    /// order, and survives a kill.
    public func send(_ text: String) async {
        let message = Message(
            in: conversation.documentID, author: me, text: text, timestamp: now())
        await act { [conversation] in _ = try await message.enqueue(in: conversation) }
    }

    /// Marks a message as deleted: other devices hear of it as of any change.
    public func delete(_ id: String) async {
        await act { [conversation] in
            _ = try await conversation.firestore.messages.document(id).enqueueUpdateData([
                "deletedAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ])
        }
    }

    /// Asks what changed in the pages that came from disk. Costs a read for each change, at least one.
    public func refresh() async {
        await act { [pager = messages.pager, retry] in
            try await Retry(retry).run(.read) { try await pager.refresh() }
        }
    }

    /// Puts a refused message at the end of the queue again.
    public func sendAgain(_ message: RefusedMessage) async {
        await act { [firestore = conversation.firestore] in
            _ = try await firestore.retryRejectedWrite(message.id)
        }
    }

    /// Forgets a refused message.
    public func discard(_ message: RefusedMessage) async {
        await act { [firestore = conversation.firestore] in
            try await firestore.discardRejectedWrite(message.id)
        }
    }

    public func close() {
        watching?.cancel()
        messages.close()
    }

    private func readRefused() async {
        let all = (try? await conversation.firestore.rejectedWrites()) ?? []
        refused = all.compactMap { RefusedMessage($0, in: conversation) }
    }

    private func act(_ body: () async throws -> Void) async {
        do {
            try await body()
            problem = nil
        } catch {
            let cause = (error as? RetryError)?.last ?? error
            problem = (cause as? FirestoreError)?.message ?? "Something went wrong in the app."
        }
    }
}

/// A message that the server refused. It is kept until the person decides.
public struct RefusedMessage: Identifiable, Hashable, Sendable {
    /// The number of the write.
    public let id: Int64
    /// The id of the message.
    public let message: String
    public let text: String
    /// Why, in a sentence for the person.
    public let reason: String

    init?(_ write: RejectedWrite, in conversation: DocumentReference) {
        guard let message = write.mutations.first,
            case .set(let fields) = message.operation,
            fields["conversationId"] == .string(conversation.documentID),
            case .string(let text)? = fields["text"]
        else { return nil }
        id = write.batch
        self.message = message.path.id
        self.text = text
        reason = FirestoreError(write.reason).message
    }
}
