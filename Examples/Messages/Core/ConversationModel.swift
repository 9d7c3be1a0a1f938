public import Observation
public import Tidemark
public import TidemarkApp
public import TidemarkResilience

/// The messages of a conversation. The newest page is live, older pages come from disk if the
/// device holds them, and a message is stored before `send` returns.
@MainActor @Observable
public final class ConversationModel {
    public let messages: PagedList<Message>
    /// The rows, oldest first, with the state of each: delivered, waiting to be sent, or refused. A
    /// refused message keeps its place until the user decides.
    public var rows: [PagerItem<Message>] { messages.pages.rows }
    /// The messages, oldest first, without the refused ones.
    public var shown: [Message] { rows.filter { !$0.isFailed }.map(\.value) }
    /// The messages that the server refused, oldest first.
    public var refused: [PagerItem<Message>] { rows.filter(\.isFailed) }
    /// The reason why the last action failed, as a sentence for the user; nil after a success.
    public private(set) var problem: String?
    /// The retries of a refresh. Listeners and sends have their own retries.
    @ObservationIgnored public var retry = RetryPolicy.mobile

    @ObservationIgnored private let conversation: DocumentReference
    @ObservationIgnored private let me: String
    @ObservationIgnored private let now: @Sendable () -> Timestamp

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
    }

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
    public func sendAgain(_ row: PagerItem<Message>) async {
        await act { [pages = messages.pages] in try await pages.retry(row) }
    }

    /// Deletes a refused message from this device.
    public func discard(_ row: PagerItem<Message>) async {
        await act { [pages = messages.pages] in try await pages.discard(row) }
    }

    /// Loads older messages if the appearing row is near the oldest one. Call this as a row
    /// appears.
    public func loadMoreIfNeeded(at row: PagerItem<Message>) {
        messages.pages.loadMoreIfNeeded(at: row.id)
    }

    public func close() { messages.close() }

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
