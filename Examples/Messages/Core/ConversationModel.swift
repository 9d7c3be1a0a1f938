public import Observation
public import Tidemark
import TidemarkApp
public import TidemarkResilience

/// The messages of a conversation. The newest page is live, older pages come from disk if the
/// device holds them, and a message is stored before `send` returns.
@MainActor @Observable
public final class ConversationModel {
    public let messages: PagedList<Message>
    /// The messages, oldest first, without the refused ones.
    public var shown: [Message] {
        let refused = Set(refused.map(\.message))
        return messages.items.filter { !refused.contains($0.id ?? "") }
    }
    /// The messages that the server refused, oldest first.
    public private(set) var refused: [RefusedMessage] = []
    /// The reason why the last action failed, as a sentence for the user; nil after a success.
    public private(set) var problem: String?
    /// The retries of a refresh. Listeners and sends have their own retries.
    @ObservationIgnored public var retry = RetryPolicy.mobile

    @ObservationIgnored private let conversation: DocumentReference
    @ObservationIgnored private let me: String
    @ObservationIgnored private let now: @Sendable () -> Timestamp
    @ObservationIgnored private var watching: Task<Void, Never>?

    /// Starts to listen; call ``close()`` to end.
    ///
    /// - Throws: `invalidArgument` if the reference is not a document's.
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

    /// Sends a message. Returns when the message is on disk, also without a network. From then on
    /// it is shown, it is sent in order, and it survives a kill.
    public func send(_ text: String) async {
        let message = Message(
            in: conversation.documentID, author: me, text: text, timestamp: now())
        await act { [conversation] in _ = try await message.enqueue(in: conversation) }
    }

    /// Marks a message as deleted. Other devices receive the mark as an ordinary change.
    public func delete(_ id: String) async {
        await act { [conversation] in
            _ = try await conversation.firestore.messages.document(id).enqueueUpdateData([
                "deletedAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ])
        }
    }

    /// Reads the changes of the pages that came from disk. Costs a read for each change, at least
    /// one.
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

    /// Deletes a refused message from this device.
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

/// A message that the server refused. It is kept until the user decides.
public struct RefusedMessage: Identifiable, Hashable, Sendable {
    /// The number of the refused write.
    public let id: Int64
    /// The id of the message.
    public let message: String
    public let text: String
    /// The reason for the refusal, as a sentence for the user.
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
