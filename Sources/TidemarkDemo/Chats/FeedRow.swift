import Tidemark
import TidemarkApp
import TidemarkModel

/// A row that is one list: opened, brought up to date, compared.
struct FeedRow: ScenarioRow {
    let name: String
    let slug: String
    var bar: Bar
    let collection: CollectionPath
    /// Its items at the last use.
    let held: [Mutation]
    let news: [Mutation]
    var away: Int64 = 86_400
    /// Where the user cleared it at the last use; nil where nobody did.
    var cleared: Timestamp?
    /// Whether the device has never opened it.
    var isNew = false
    /// For a list that has a preset of its own; the fields are the demo's.
    var preset: (@Sendable (Firestore) -> FeedDefinition)?

    var seed: [Mutation] { Membership.set(above: collection) + held }

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        if isNew { return }
        switch side {
        case .before: _ = try await listen(firestore) {}
        case .after:
            let feed = try feed(firestore)
            try await feed.open()
            try await feed.sync()
            if let cleared { try await feed.clear(through: cleared) }
        }
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try visit.firestore()
        switch side {
        case .before:
            let documents = try await listen(firestore) { visit.sawContent() }
            visit.isUpToDate()
            return documents.filter(isVisible).shownItems
        case .after:
            let feed = try feed(firestore)
            if try await !feed.open().isEmpty { visit.sawContent() }
            _ = try await visit.retrying { try await feed.sync() }
            visit.isUpToDate()
            // An app shows the window; here all of it is compared with the server.
            return try await feed.loadAll().map(\.document).shownItems
        }
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Truth(try await server.documents(in: collection)) { document in
            isVisible(document.fields[ItemFields.time])
        }
    }

    /// The app as it was: a listener on the whole collection.
    private func listen(
        _ firestore: Firestore, sawContent: () -> Void
    ) async throws -> [QueryDocumentSnapshot] {
        let items = firestore.collection(collection.text)
            .order(by: ItemFields.time, descending: true)
        // tidemark:ignore unbounded-listener the app as it was
        for try await snapshot in items.snapshots(includeMetadataChanges: true) {
            if !snapshot.metadata.isFromCache { return snapshot.documents }
            if snapshot.documents.contains(where: isVisible) { sawContent() }
        }
        throw CancellationError()
    }

    private func feed(_ firestore: Firestore) throws -> Feed {
        try Feed(
            preset?(firestore)
                ?? FeedDefinition(
                    query: firestore.collection(collection.text), itemTime: ItemFields.time,
                    way: .changeTime(ItemFields.updatedAt, deletedField: ItemFields.deletedAt)))
    }

    /// What was cleared, the app as it was hid too: after it had read it.
    private func isVisible(_ document: QueryDocumentSnapshot) -> Bool {
        isVisible(document.fields?[ItemFields.time])
    }

    private func isVisible(_ time: TidemarkModel.Value?) -> Bool {
        guard let cleared else { return true }
        guard case .timestamp(let time)? = time else { return false }
        return time > cleared
    }
}
