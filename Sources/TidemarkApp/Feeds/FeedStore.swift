import Tidemark

/// A feed's dealings with the engine: its records, its documents on disk, and its reads.
struct FeedStore: Sendable {
    let firestore: Firestore
    let definition: ParsedDefinition

    func now() -> Timestamp { firestore.environment.now() }

    func marks() async throws(FirestoreError) -> Marks {
        try await record(definition.marksKey).flatMap(Marks.init(encoded:)) ?? Marks()
    }

    /// A record that cannot be read counts as nothing known: it costs a first read, and loses nothing.
    func progress() async throws(FirestoreError) -> FeedProgress {
        let bytes = try await record(definition.progressKey)
        return bytes.flatMap { FeedProgress(encoded: $0, overlap: definition.overlap) }
            ?? FeedProgress(overlap: definition.overlap)
    }

    private func record(_ key: String) async throws(FirestoreError) -> [UInt8]? {
        try await answer { finish in firestore.engine.record(forKey: key, completion: finish) }
    }

    func save(_ marks: Marks) async throws(FirestoreError) {
        try await answer { (finish: @escaping @Sendable (Result<Void, SyncError>) -> Void) in
            firestore.engine.setRecord(marks.encoded, forKey: definition.marksKey) { error in
                finish(error.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// The documents on disk that are no marked deletes, newest first. Asks no server.
    func held() async throws(FirestoreError) -> [FeedItem] {
        let rows = Query(firestore, definition.display)
        let snapshot: QuerySnapshot
        do throws(FirestoreError) {
            snapshot = try await rows.getDocuments(source: .cache)
        } catch {
            // A cache that has never seen the collection holds none of it.
            guard error.code == .unavailable else { throw error }
            return []
        }
        return snapshot.documents.compactMap { document in
            guard !isDeleted(document) else { return nil }
            let time = ParsedDefinition.time(document.fields?[definition.itemTime])
            return FeedItem(time: time ?? .min, document: document, isUnread: false)
        }
    }

    private func isDeleted(_ document: QueryDocumentSnapshot) -> Bool {
        guard let field = definition.deletedField, let value = document.fields?[field] else {
            return false
        }
        return value != .null
    }

    struct Page: Sendable {
        var progress: FeedProgress
        var rows: Int
        var changed: Int
    }

    /// Reads one page, and stores it with the progress that it makes in one transaction.
    func fetch(
        _ plan: ReadPlan, _ progress: FeedProgress, action: Timestamp?, within deadline: Duration?
    ) async throws(FirestoreError) -> Page {
        let request = definition.request(plan, in: firestore.databaseID)
        let made = Made<Page>()
        let definition = definition
        let _: ReadResult = try await answer { finish in
            firestore.engine.fetch(
                request, deadline: deadline,
                records: { documents, readTime in
                    var next = progress
                    let fresh = next.receive(
                        documents.map(definition.row), readTime: readTime, action: action,
                        floor: plan.floor, isLast: documents.count < plan.pageSize)
                    made.set(
                        Page(progress: next, rows: documents.count, changed: fresh.count))
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
