public import Tidemark

/// The chat list of a user: conversations, their last messages, and a badge for each conversation.
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
/// The list is a single query and a single listener, regardless of the number of conversations: the
/// data of a row are in the conversation's document (``ConversationFields``), and a mark on the
/// device records what the user has seen. The device's list is shown before the server answers. The
/// costs are those of its feed, for the changes: a new message is one read, and its badge is
/// correct in the same snapshot. Seeing a conversation costs no read; for marks that devices share,
/// it is one write, and a read for each listening device.
///
/// With a ``Pager`` instead of a feed, conversations come in pages from the server: for a user with
/// thousands of conversations, of which only the newest matter. Marks work in the same way.
///
/// A conversation in the first complete list counts as seen, unless another device's marks differ.
/// The list belongs to the user for whom it was created, like its feed.
public actor ConversationList {
    private typealias Board = ConversationBoard<QueryDocumentSnapshot>

    /// The maximum number of followed conversations; the list stops following the oldest.
    private static let maxFollowed = 20
    /// The maximum number of marks in a write, because a document accepts 500 transforms.
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
    /// The present state.
    public private(set) var state = ConversationListState()

    /// - Parameters:
    ///   - definition: The conversations of the user, as in
    ///     ``FeedDefinition/chatList(of:in:members:lastMessageAt:way:)``.
    ///   - user: The user's id.
    ///   - fields: The fields of a conversation for its row.
    ///   - window: The number of conversations that are joined and counted, from disk, beyond the
    ///     definition's own window; opening costs about 10 µs for each.
    ///   - sharedMarks: A document and a field of the user, in which the user's devices share the
    ///     marks as a map by conversation. Costs one read at the start and one for each change,
    ///     including the device's own. Exempt the field from indexes: a document can have at most
    ///     40,000 entries.
    /// - Throws: `invalidArgument` if the arguments do not fit together.
    public init(
        _ definition: FeedDefinition, user: String,
        fields: ConversationFields = ConversationFields(), window: Int = 1_000,
        sharedMarks: FeedDefinition.SharedMark? = nil
    ) throws(FirestoreError) {
        var definition = definition
        definition.window = max(definition.window, window)
        try self.init(
            .feed(try Feed(definition)), query: definition.query, user: user, fields: fields,
            sharedMarks: sharedMarks)
    }

    /// Creates a list with conversations in pages:
    /// ``Pager/conversations(of:in:members:lastMessageAt:pageSize:pagesFromDisk:)``.
    ///
    /// - Parameters:
    ///   - pager: The conversations of the user.
    ///   - user: The user's id.
    ///   - fields: The fields of a conversation for its row.
    ///   - sharedMarks: A document and a field of the user for the marks of all devices.
    /// - Throws: `invalidArgument` if the arguments do not fit together.
    public init(
        _ pager: Pager, user: String, fields: ConversationFields = ConversationFields(),
        sharedMarks: FeedDefinition.SharedMark? = nil
    ) throws(FirestoreError) {
        try self.init(
            .pager(pager), query: pager.pagedQuery, user: user, fields: fields,
            sharedMarks: sharedMarks)
    }

    private init(
        _ source: ConversationSource, query: Query, user: String, fields: ConversationFields,
        sharedMarks: FeedDefinition.SharedMark?
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

    /// The present state and each later state. A slow reader skips to the newest. Starts no read.
    public nonisolated var states: AsyncStream<ConversationListState> { watchers.stream }

    /// The first question of the next ``refresh()``, with its cost and reason; nil with a pager.
    /// Asks no server.
    ///
    /// The plan depends on the device's data: ``open()`` the list before. After a full page,
    /// another page follows. Marks are on the device, and cost nothing; ``start()`` reads the
    /// document of shared marks.
    public var plan: ReadPlan? {
        get async {
            guard case .feed(let feed) = source else { return nil }
            return await feed.plan
        }
    }

    /// Reads the list from the device. Costs no reads; asks no server. With a pager, the result is
    /// empty before ``start()``.
    ///
    /// - Throws: The error of the disk.
    @discardableResult
    public func open() async throws(FirestoreError) -> [ConversationItem] {
        try await load()
        try await source.open()
        if case .feed(let feed) = source { await take(ConversationSource.Rows(feed.state)) }
        return state.items
    }

    /// Shows the device's list, and then updates the list by listening, until ``stop()`` or the
    /// release of this object. The phase shows an error.
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
            watchers.notify(state)
        }
    }

    /// Stops the listeners. The shown list stays.
    public func stop() async {
        for task in tasks { task.cancel() }
        tasks = []
        await source.setLive(false)
    }

    /// Updates the list once, at the cost of its changes: ``plan`` predicts it.
    ///
    /// - Throws: The error of the server or the disk.
    public func refresh() async throws(FirestoreError) {
        try await load()
        try await source.sync()
        if case .feed(let feed) = source { await take(ConversationSource.Rows(feed.state)) }
    }

    /// Shows older conversations: from disk with a feed, a page from the server with a pager.
    ///
    /// - Parameter count: The number of further conversations of a feed; a pager has its own page
    ///   size.
    /// - Throws: The error of the disk. The phase shows the server's error for a pager's page.
    public func loadMore(_ count: Int = 50) async throws(FirestoreError) {
        try await source.loadMore(count)
    }
}

// MARK: - What was seen

extension ConversationList {
    /// Records that the user has seen a conversation, except for `unread` of its messages. Works
    /// offline; the mark is on disk when the method returns. A conversation outside the list stays
    /// unchanged.
    ///
    /// - Parameters:
    ///   - id: The conversation's document id.
    ///   - unread: The number of messages that are still unread.
    /// - Throws: The error of the disk.
    public func markSeen(_ id: String, unread: Int = 0) async throws(FirestoreError) {
        guard unread >= 0 else {
            throw .invalidArgument(
                """
                A conversation must have 0 or more unread messages, not \(unread).
                """)
        }
        try await load()
        try await step(.seen(ByteString(id), unread: unread))
    }

    /// Records that the user has seen all conversations of the list. Shared marks cost a write for
    /// each 200 conversations.
    ///
    /// - Throws: The error of the disk.
    public func markAllSeen() async throws(FirestoreError) {
        try await load()
        try await step(.seenAll)
    }

    /// Uses the unread count of a conversation's feed while its screen shows the feed, for at most
    /// 20 conversations. The feed must be as new as the conversation's document: give both the same
    /// time, in the same batch.
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

    /// The conversations whose number of unread messages is not known.
    var uncountedRows: [ConversationBoard<QueryDocumentSnapshot>.Uncounted] { board.uncounted }

    func take(
        _ count: ConversationCount, of id: ByteString
    ) async throws(FirestoreError) {
        try await step(.counted(id, count))
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
        watchers.notify(state)
    }

    private func save() async throws(FirestoreError) {
        let bytes = board.marks.encoded
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.setRecord(bytes, forKey: key) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Queues the writes before it returns; they are sent when there is a network. A refused write
    /// is among the rejected writes.
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
            // tidemark:ignore writes-in-loop a deleted document must not prevent the other writes
            firestore.document(path.text).updateData([count: Int64(0)])
        }
    }

    private func heard(_ marks: ConversationMarks?, _ error: FirestoreError?) async {
        state.sharedMarksError = error
        try? await step(.shared(marks))
    }

    /// Receives the marks of other devices, until the task is cancelled or the marks may not be
    /// read.
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
