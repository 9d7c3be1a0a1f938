public import Tidemark

/// The chat list of a user: conversations, their last messages, and a badge for each.
///
/// ```swift
/// let list = try ConversationList(
///     .chatList(of: "ann", in: firestore.collection("chats")), user: "ann")
/// await list.start()
/// for await state in list.states {
///     show(state.items, badge: state.unreadTotal)
/// }
/// ```
///
/// It is one query and one listener, however many conversations there are: what a row shows is in the
/// conversation's document (``ConversationFields``), and what the user has seen is a mark on the device. It
/// shows what the device holds before the server answers. Costs, as its feed, what changed: a new message
/// is one read, and its badge is right with the same snapshot. Seeing a conversation costs no read; where
/// marks are shared between devices it is one write, and a read for each device that listens.
///
/// With a ``Pager`` in place of a feed, conversations come in pages from the server: for a user of whose
/// thousands only the newest matter. Marks work the same.
///
/// A conversation that was there when the list was complete for the first time counts as seen, unless
/// another device's marks say otherwise. It is of the user in whose time it was made, as its feed is.
public actor ConversationList {
    private typealias Board = ConversationBoard<QueryDocumentSnapshot>

    /// Conversations that are followed at the same time; the one followed first is let go.
    private static let maxFollowed = 20
    /// Marks of one write: a document takes 500 transforms.
    private static let marksPerWrite = 200

    private let source: ConversationSource
    private let firestore: Firestore
    private let engine: UserSession
    private let collection: CollectionPath?
    private let fields: ConversationFields
    private let parsed: ParsedConversationFields
    private let sharedMarks: FeedDefinition.SharedMark?
    private let key: String
    private var board: Board
    private var rows: ConversationSource.Rows?
    private var loading: Task<Result<Void, FirestoreError>, Never>?
    private var tasks: [Task<Void, Never>] = []
    private var followed: [(id: ByteString, task: Task<Void, Never>)] = []
    private let watchers = Watchers<ConversationListState>(ConversationListState())
    /// What is shown now.
    public private(set) var state = ConversationListState()

    /// - Parameters:
    ///   - definition: The conversations of the user, as ``FeedDefinition/chatList(of:in:members:lastMessageAt:way:)``.
    ///   - user: The user's id.
    ///   - fields: Where a conversation keeps what is shown of it.
    ///   - window: Conversations that are joined and counted, from disk, beyond the definition's own window;
    ///     opening costs time for each, some 10 µs.
    ///   - sharedMarks: A document and a field of the user's own, by which their devices share what was
    ///     seen: a map by conversation. Costs one read at the start and one for each change, also for the
    ///     device's own. Exempt the field from indexes: a document has 40,000 entries at the most.
    /// - Throws: `invalidArgument` when that makes no sense.
    public init(
        _ definition: FeedDefinition, user: String,
        fields: ConversationFields = ConversationFields(), window: Int = 1_000,
        sharedMarks: FeedDefinition.SharedMark? = nil
    ) throws(FirestoreError) {
        var definition = definition
        definition.window = max(definition.window, window)
        try self.init(
            .feed(try Feed(definition)), definition.query, user, fields, sharedMarks)
    }

    /// As the other one, with conversations in pages: ``Pager/conversations(of:in:members:lastMessageAt:pageSize:pagesFromDisk:)``.
    ///
    /// - Parameters:
    ///   - pager: The conversations of the user.
    ///   - user: The user's id.
    ///   - fields: Where a conversation keeps what is shown of it.
    ///   - sharedMarks: A document and a field of the user's own for marks of all their devices.
    /// - Throws: `invalidArgument` when that makes no sense.
    public init(
        _ pager: Pager, user: String, fields: ConversationFields = ConversationFields(),
        sharedMarks: FeedDefinition.SharedMark? = nil
    ) throws(FirestoreError) {
        try self.init(.pager(pager), pager.pagedQuery, user, fields, sharedMarks)
    }

    private init(
        _ source: ConversationSource, _ query: Query, _ user: String, _ fields: ConversationFields,
        _ sharedMarks: FeedDefinition.SharedMark?
    ) throws(FirestoreError) {
        self.source = source
        self.fields = fields
        self.sharedMarks = sharedMarks
        firestore = query.firestore
        engine = query.firestore.engine.session
        parsed = try ParsedConversationFields(fields, user: user)
        let value = try query.runnable()
        collection = value.collection
        let way: Board.Way =
            parsed.isSinceMark ? .sinceMark : parsed.isOfEachUser ? .ofEachUser : .notCounted
        _ = try sharedMarks?.field.resolved()
        board = Board(way, sharesMarks: sharedMarks != nil)
        key = "conversations/\(value.collection?.text ?? value.canonicalID)/\(user)"
    }

    deinit {
        for task in tasks { task.cancel() }
        for (_, task) in followed { task.cancel() }
        let source = source
        Task { await source.setLive(false) }
    }

    /// What is shown, now and as it changes. A slow reader skips to the newest. Begins nothing.
    public nonisolated var states: AsyncStream<ConversationListState> { watchers.stream }

    /// What the next ``refresh()`` asks first, what that costs, and why; nil with a pager. Asks nothing.
    ///
    /// It goes by what the device holds: ``open()`` the list before. Where the answer is a full page, another
    /// page follows. Marks are of the device, and cost nothing; a document that shares them is read by
    /// ``start()``.
    public var plan: ReadPlan? {
        get async {
            guard case .feed(let feed) = source else { return nil }
            return await feed.plan
        }
    }

    /// Reads the list from what the device holds. Costs no reads; asks no server. With a pager, nothing
    /// comes before ``start()``.
    ///
    /// - Throws: What the disk answered.
    @discardableResult
    public func open() async throws(FirestoreError) -> [ConversationItem] {
        try await load()
        try await source.open()
        if case .feed(let feed) = source { await take(ConversationSource.Rows(feed.state)) }
        return state.items
    }

    /// Shows what the device holds, and then keeps the list right by listening, until ``stop()`` or the list
    /// goes. What fails is the phase.
    public func start() async {
        guard tasks.isEmpty else { return }
        if let sharedMarks {
            tasks.append(Task { [weak self] in await Self.hear(sharedMarks, self) })
        }
        tasks.append(
            Task { [weak self, source] in await source.follow { await self?.take($0) } })
        do throws(FirestoreError) {
            try await open()
            await source.setLive(true)
        } catch {
            state.phase = .failed(error)
            watchers.tell(state)
        }
    }

    /// Listens no longer. What is shown stays.
    public func stop() async {
        for task in tasks { task.cancel() }
        tasks = []
        await source.setLive(false)
    }

    /// Brings the list up to date once, at the price of what changed: ``plan`` tells it beforehand.
    ///
    /// - Throws: What the server or the disk answered.
    public func refresh() async throws(FirestoreError) {
        try await load()
        try await source.sync()
        if case .feed(let feed) = source { await take(ConversationSource.Rows(feed.state)) }
    }

    /// Shows older conversations: from disk with a feed, a page from the server with a pager.
    ///
    /// - Parameter count: How many more of a feed; a pager has pages of its own size.
    /// - Throws: What the disk answered; what the server did to a pager's page is the phase.
    public func loadMore(_ count: Int = 50) async throws(FirestoreError) {
        try await source.loadMore(count)
    }
}

// MARK: - What was seen

extension ConversationList {
    /// Remembers that the user has seen a conversation, but for so many of its messages. Works offline, and
    /// is on disk when it returns. A conversation that is not in the list is left as it is.
    ///
    /// - Parameters:
    ///   - id: The conversation's document id.
    ///   - unread: Messages that are still unread.
    /// - Throws: What the disk answered.
    public func markSeen(_ id: String, unread: Int = 0) async throws(FirestoreError) {
        guard unread >= 0 else {
            throw .invalidArgument("A conversation has 0 or more unread messages, not \(unread).")
        }
        try await load()
        try await step(.seen(ByteString(id), unread: unread))
    }

    /// Remembers that the user has seen all conversations of the list. Where marks are shared, it is a write
    /// for each 200 conversations.
    ///
    /// - Throws: What the disk answered.
    public func markAllSeen() async throws(FirestoreError) {
        try await load()
        try await step(.seenAll)
    }

    /// Takes over what a conversation's feed counts as unread, for as long as its screen shows it: of 20
    /// conversations at the same time at the most. What the feed holds has to be as new as the conversation
    /// says: let both carry one time, of one batch.
    ///
    /// - Parameters:
    ///   - feed: The messages of the conversation.
    ///   - id: The conversation's document id.
    public func follow(_ feed: Feed, of id: String) {
        unfollow(id)
        if followed.count >= Self.maxFollowed { followed.removeFirst().task.cancel() }
        let task = Task { [weak self] in
            for await state in feed.states { await self?.take(state, of: id) }
        }
        followed.append((ByteString(id), task))
    }

    /// Ends ``follow(_:of:)``.
    ///
    /// - Parameter id: The conversation's document id.
    public func unfollow(_ id: String) {
        let id = ByteString(id)
        for entry in followed where entry.id == id { entry.task.cancel() }
        followed.removeAll { $0.id == id }
    }

    private func take(_ state: FeedState, of id: String) async {
        guard case .fresh = state.phase, let newest = state.items.first?.time,
            let item = self.state.items.first(where: { $0.id.hasSameBytes(as: id) }),
            let last = item.lastMessageAt, last <= newest
        else { return }
        try? await markSeen(id, unread: state.unreadCount)
    }
}

// MARK: - The shell of the board

extension ConversationList {
    private func take(_ rows: ConversationSource.Rows) async {
        self.rows = rows
        let documents = rows.documents.map(parsed.row)
        try? await step(.rows(documents, readTime: rows.readTime))
    }

    /// Reads the marks, once.
    private func load() async throws(FirestoreError) {
        let task = loading ?? Task { await readMarks() }
        loading = task
        let result = await task.value
        if case .failure = result { loading = nil }
        try result.get()
    }

    private func readMarks() async -> Result<Void, FirestoreError> {
        do throws(FirestoreError) {
            let bytes: [UInt8]? = try await answer { finish in
                engine.record(forKey: key, completion: finish)
            }
            try await step(
                .loaded(bytes.map(ConversationMarks.init(encoded:)) ?? ConversationMarks()))
            return .success(())
        } catch { return .failure(error) }
    }

    private func step(_ event: Board.Event) async throws(FirestoreError) {
        let effects = board.step(event)
        if effects.contains(.publish) { publish() }
        if effects.contains(.save) { try await save() }
        for effect in effects {
            switch effect {
            case .publish, .save: break
            // tidemark:ignore writes-in-loop a step has one such effect at the most
            case .share(let ids, let begin): share(ids, begin)
            // tidemark:ignore writes-in-loop a step has one such effect at the most
            case .zero(let ids): zero(ids)
            }
        }
    }

    private func publish() {
        state.items = board.entries.map { ConversationItem($0, fields.lastMessage) }
        state.unreadTotal = board.unreadTotal
        if let rows {
            state.hasMore = rows.hasMore
            state.phase = rows.phase
        }
        watchers.tell(state)
    }

    private func save() async throws(FirestoreError) {
        let bytes = board.marks.encoded
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.setRecord(bytes, forKey: key) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Queued before it returns; sent when there is a network. What is refused is among the rejected
    /// writes.
    private func share(_ ids: [ByteString], _ begin: Timestamp?) {
        guard let sharedMarks else { preconditionFailure("nothing is shared") }
        typealias Marks = ConversationMarks
        for start in stride(from: 0, to: max(1, ids.count), by: Self.marksPerWrite) {
            var all: [String: Any] = [:]
            for id in ids.dropFirst(start).prefix(Self.marksPerWrite) {
                guard let mark = board.marks[id] else { continue }
                all[id.text] = [
                    Marks.timeKey: FieldValue.maximum(SharedMarkFields.milliseconds(mark.time)),
                    Marks.countKey: FieldValue.maximum(Int64(mark.count)),
                ]
            }
            if let begin {
                all[Marks.beginKey] = FieldValue.minimum(SharedMarkFields.milliseconds(begin))
            }
            // tidemark:ignore writes-in-loop each holds as many marks as a write may
            sharedMarks.document.setData([sharedMarks.field: all], merge: true)
        }
    }

    private func zero(_ ids: [ByteString]) {
        guard let collection, let count = parsed.count else { return }
        for id in ids {
            guard let path = try? collection.document(id.text) else { continue }
            // tidemark:ignore writes-in-loop one that is gone must not keep the others from being written
            firestore.document(path.text).updateData([count: Int64(0)])
        }
    }

    private func heard(_ marks: ConversationMarks?, _ error: FirestoreError?) async {
        state.sharedMarksError = error
        try? await step(.shared(marks))
    }

    /// Other devices' marks, until the task is cancelled or they may not be read.
    private static func hear(
        _ shared: FeedDefinition.SharedMark, _ list: ConversationList?
    ) async {
        guard let field = try? shared.field.resolved() else { return }
        weak let list = list
        do throws(FirestoreError) {
            for try await snapshot in shared.document.snapshots(includeMetadataChanges: true) {
                if !snapshot.exists && snapshot.metadata.isFromCache { continue }
                let marks = ConversationMarks(shared: snapshot.fields?[field])
                await list?.heard(marks, nil)
            }
        } catch {
            if error.code != .cancelled { await list?.heard(nil, error) }
        }
    }
}
