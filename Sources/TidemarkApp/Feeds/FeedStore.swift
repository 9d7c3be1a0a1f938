import Tidemark

/// A feed's dealings with the engine: its records, its documents on disk, and its reads.
struct FeedStore: Sendable {
    let firestore: Firestore
    /// Of the user in whose time the feed was made: what it holds in memory is that user's.
    private let engine: UserSession
    let definition: ParsedDefinition

    init(firestore: Firestore, definition: ParsedDefinition) {
        self.firestore = firestore
        self.definition = definition
        engine = firestore.engine.session
    }

    func now() -> Timestamp { firestore.environment.now() }

    func marks() async throws(FirestoreError) -> Marks {
        try await record(definition.marksKey).flatMap(Marks.init(encoded:)) ?? Marks()
    }

    /// A record that cannot be read counts as nothing known: it costs a first read, and loses
    /// nothing.
    func progress() async throws(FirestoreError) -> FeedProgress {
        let bytes = try await record(definition.progressKey)
        return bytes.flatMap { FeedProgress(encoded: $0, overlap: definition.overlap) }
            ?? FeedProgress(overlap: definition.overlap)
    }

    private func record(_ key: String) async throws(FirestoreError) -> [UInt8]? {
        try await answer { finish in engine.record(forKey: key, completion: finish) }
    }

    func save(_ marks: Marks) async throws(FirestoreError) {
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.setRecord(marks.encoded, forKey: definition.marksKey) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    struct Page: Sendable {
        var progress: FeedProgress
        var rows: Int
        /// Those that are new here, or new in this version.
        var changed: [DocumentPath]
    }

    /// Reads one page, and stores it with the progress that it makes in one transaction.
    func fetch(
        _ plan: ReadPlan, _ progress: FeedProgress, action: Timestamp?, within deadline: Duration?
    ) async throws(FirestoreError) -> Page {
        let request = definition.request(plan, in: firestore.databaseID)
        let made = Made<Page>()
        let definition = definition
        let _: ReadResult = try await answer { finish in
            engine.fetch(
                request, deadline: deadline,
                records: { documents, readTime in
                    var next = progress
                    let fresh = next.receive(
                        documents.map(definition.row), readTime: readTime, action: action,
                        floor: plan.floor, isLast: documents.count < plan.pageSize)
                    made.set(
                        Page(
                            progress: next, rows: documents.count, changed: fresh.map(\.path)))
                    return [definition.progressKey: next.encoded]
                },
                completion: finish)
        }
        guard let page = made.value else {
            throw FirestoreError(.internal, "A read ended without storing what it read.")
        }
        return page
    }
}

// MARK: - The cache

extension FeedStore {
    /// Makes the indexes that opening and counting go by.
    func declareIndexes() async throws(FirestoreError) {
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            engine.declareIndexes(for: definition.indexed) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    struct Items: Sendable {
        /// Newest first.
        var items: [FeedItem]
        var hasMore: Bool
        var rowsScanned: Int
    }

    /// The next items on disk below a position, or the newest: those that are neither marked as
    /// deleted nor cleared.
    func items(
        below end: FeedItem.Position?, first count: Int, _ marks: Marks
    ) async throws(FirestoreError) -> Items {
        let query = definition.display(
            below: end, action: marks.action, in: firestore.databaseID)
        let definition = definition
        let rows: CachedRows = try await answer { finish in
            engine.cachedRows(
                of: query, first: count,
                where: { document in
                    definition.deletedField == nil || !definition.isDeleted(document.fields)
                },
                completion: finish)
        }
        return Items(
            items: rows.documents.compactMap { item($0, marks) }, hasMore: rows.hasMore,
            rowsScanned: rows.rowsScanned)
    }

    /// How documents look now, and with them all that have pending writes; nil for one that is no
    /// item of the feed.
    func changes(
        at paths: [DocumentPath], _ marks: Marks
    ) async throws(FirestoreError) -> [DocumentPath: FeedItem?] {
        let display = PreparedQuery(definition.display, in: firestore.databaseID)
        let documents: [DocumentPath: ViewDocument?] = try await answer { finish in
            engine.cachedDocuments(
                at: paths, andWrittenIn: definition.query, completion: finish)
        }
        return documents.mapValues { view in
            guard let view, display.matches(view.path, view.document.fields) else { return nil }
            return item(view, marks)
        }
    }

    private func item(_ view: ViewDocument, _ marks: Marks) -> FeedItem? {
        let document = firestore.cachedSnapshot(of: view)
        guard let fields = document.fields, let value = fields[definition.itemTime],
            !definition.isDeleted(fields)
        else { return nil }
        let item = FeedItem(document, itemTime: value, consumption: marks.consumption)
        return marks.action.map(item.isAbove) ?? true ? item : nil
    }

    /// How many of all that is held are above both marks and not marked as deleted. No document is
    /// read for it.
    func unreadCount(_ marks: Marks) async throws(FirestoreError) -> Int {
        let mark = marks.floor
        var queries = [definition.counted(above: mark)]
        if let field = definition.deletedField {
            queries += [
                definition.counted(above: mark, having: field),
                definition.counted(above: mark, lacking: field),
            ]
        }
        let counts: [Int] = try await answer { finish in
            engine.cachedCounts(of: queries, completion: finish)
        }
        guard counts.count == 3 else { return counts[0] }
        return max(0, counts[0] - counts[1] + counts[2])
    }
}
