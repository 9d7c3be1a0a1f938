import ChatsCore
import Tidemark
import TidemarkApp
import TidemarkModel

/// A long list of blocked users, each shown by name, opened again after some were blocked and
/// others unblocked.
struct BlockedUsersRow: ScenarioRow {
    private let held: Int
    private let blocked: Int
    private let unblocked: Int
    private let start: Int64

    init(held: Int, blocked: Int, unblocked: Int, clock: Int64) {
        (self.held, self.blocked, self.unblocked) = (held, blocked, unblocked)
        start = clock - Int64(held + blocked)
    }

    let slug = "blocked-users"
    let sides = Side.allCases
    var name: String {
        "blocked users, \(grouped(held)) with \(blocked) new and \(unblocked) let go"
    }
    /// The reads are one for each change, and one for each new name.
    var bar: Bar { Bar(reads: 2 * blocked + unblocked + 1, fewer: 0.8) }

    private let list = CollectionPath(unchecked: "users/ada/blocked")
    private let people = CollectionPath(unchecked: "users")

    private func event(_ user: Int) -> HistoryEvent {
        HistoryEvent(
            id: "b\(user)", author: "ada", authoredAt: start + Int64(user),
            committedAt: start + Int64(user), text: "")
    }

    private func block(_ user: Int) -> Mutation {
        HistoryScript.insert(event(user), list, at: "blockedAt")
    }

    var seed: [Mutation] {
        (0..<(held + blocked)).map { user in
            Mutation(
                path: DocumentPath(unchecked: "\(people.text)/b\(user)"),
                .set(["name": .string("User \(user)")]))
        } + (0..<held).map { block($0) }
    }

    var news: [Mutation] {
        (held..<(held + blocked)).map { block($0) }
            + (0..<unblocked).map {
                HistoryScript.delete(event($0 * 7), time: start, collection: list)
            }
    }

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        switch side {
        // The app as it was asks the server every time, so there is nothing to prepare.
        case .before: break
        case .filtered: _ = try await readNew(firestore) {}
        case .after: _ = try await load(app(firestore).blockedUsers())
        }
    }

    /// Predicts the changes of the list, and one query for the names of the new users.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        let written = WrittenDocuments(seed + news)
        let feed = try Feed(
            FeedDefinition(
                query: firestore.collection(list.text), itemTime: "blockedAt",
                way: .changeTime(ItemFields.updatedAt, deletedField: ItemFields.deletedAt)))
        var forecast = Forecast()
        try await forecast.add(sync: feed, changed: written.rows(news.map(\.path)))
        let new = (held..<(held + blocked)).map { user in
            DocumentPath(unchecked: "\(people.text)/b\(user)")
        }
        forecast.addScan("names of new users", of: written.rows(new))
        return forecast
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        switch side {
        case .before:
            let shown = try await readAll(firestore, visit)
            visit.isUpToDate()
            return shown
        case .filtered:
            let shown = try await readNew(firestore) { visit.sawContent() }
            visit.isUpToDate()
            return shown
        case .after:
            return try await show(firestore, visit)
        }
    }

    @MainActor
    private func show(_ firestore: Firestore, _ visit: Visit) async throws -> [ShownItem] {
        let blocked = try app(firestore).blockedUsers()
        let isOnDisk = try await !named(blocked.open()).isEmpty
        if isOnDisk { visit.sawContent() }
        let state = try await load(blocked, visit)
        if !isOnDisk { visit.sawContent() }
        visit.isUpToDate()
        return named(state)
    }

    /// Loads the list again until there is no problem, as a user would.
    private func load(
        _ blocked: BlockedUsers, _ visit: Visit? = nil
    ) async throws -> BlockedUsers.State {
        while true {
            if let state = try? await blocked.sync(), state.detailsError == nil { return state }
            try Task.checkCancellation()
            try await visit?.untilOnline()
        }
    }

    @MainActor
    private func app(_ firestore: Firestore) -> ChatsApp {
        ChatsApp(firestore, me: Membership.user)
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        let listed = Truth(try await server.documents(in: list))
        return Truth(living: listed.living.mapValues { _ in .min })
    }

    /// Returns the entries that can be shown, which are those with a name.
    private func named(_ blocked: BlockedUsers.State) -> [ShownItem] {
        blocked.entries.filter { $0.detail?.document != nil }
            .map { ShownItem(id: $0.id, version: .min) }
    }

    /// Plays the filtered app: it reads the users who were blocked since, and the names that are
    /// not on the device.
    private func readNew(
        _ firestore: Firestore, sawContent: () -> Void
    ) async throws -> [ShownItem] {
        let list = FilteredList(
            items: firestore.collection(list.text), time: "blockedAt")
        var shown: [ShownItem] = []
        for item in try await list.open(sawContent: sawContent).shownItems {
            let person = firestore.document("\(people.text)/\(item.id)")
            var found = try? await person.getDocument(source: .cache)
            // tidemark:ignore read-in-loop the app with a filter
            if found == nil { found = try await person.getDocument(source: .server) }
            if found?.exists == true { shown.append(ShownItem(id: item.id, version: .min)) }
        }
        return shown
    }

    /// Plays the app as it was: it reads the whole list, and then all users concurrently with one
    /// read each.
    private func readAll(_ firestore: Firestore, _ visit: Visit) async throws -> [ShownItem] {
        let listed = try await visit.retrying {
            try await firestore.collection(list.text).getDocuments(source: .server)
        }
        return try await withThrowingTaskGroup(of: ShownItem?.self) { group in
            for item in listed.documents.shownItems {
                group.addTask {
                    let person = try await visit.retrying {
                        try await firestore.document("\(people.text)/\(item.id)")
                            // tidemark:ignore read-in-loop the app as it was
                            .getDocument(source: .server)
                    }
                    return person.exists ? ShownItem(id: item.id, version: .min) : nil
                }
            }
            return try await group.reduce(into: []) { shown, item in
                if let item { shown.append(item) }
            }
        }
    }
}
