import ChatsCore
import Tidemark
import TidemarkApp
import TidemarkModel

/// The list of users who were online in the last 24 hours, opened again after an hour.
struct OnlineRow: ScenarioRow {
    private static let seenAt = "lastSeen"
    /// The length of the window in seconds.
    private static let window: Int64 = 86_400
    private let users: Int
    private let returning: Int
    /// The server's time at the last use, in seconds since 1970.
    private let clock: Int64

    init(users: Int, returning: Int, clock: Int64) {
        (self.users, self.returning, self.clock) = (users, returning, clock)
    }

    let slug = "online-users"
    let sides = Side.allCases
    var name: String {
        "online users, \(returning) of \(grouped(users)) seen since the list was last open"
    }
    /// The reads are one for each user who came online, and one for the server's time.
    var bar: Bar { Bar(reads: returning + 1) }
    let away: Int64 = 3_600

    private let collection = CollectionPath(unchecked: "presence")

    private func path(_ user: Int) -> DocumentPath {
        DocumentPath(unchecked: "\(collection.text)/u\(user)")
    }

    /// Users who were online over the two previous days, the latest first. No user is within ten
    /// minutes of the window's edge at the measured use. Such a user could leave the window while
    /// the answer is in flight: the list would correctly show the user, but the later comparison
    /// would not expect this.
    var seed: [Mutation] {
        let edge = Self.window - away - Ground.settled - Ground.pause
        // These and the returning users are fewer than the 1,000 that a list shows.
        let inside = Int64(users * 9 / 20)
        return (0..<Int64(users)).map { user in
            let ago =
                user < inside
                ? 300 + user * (edge - 900) / inside
                : edge + 600 + (user - inside) * (2 * Self.window - edge) / inside
            let time = Timestamp(seconds: clock - ago, nanoseconds: 0)
            return Mutation(path: path(Int(user)), .set([Self.seenAt: .timestamp(time)]))
        }
    }

    /// Half of the returning users were not in the list before.
    var news: [Mutation] {
        let seen = FieldTransform(FieldPath(name: Self.seenAt), .serverTimestamp)
        return (0..<returning).map { number in
            let user = number.isMultiple(of: 2) ? number : users - 1 - number
            return Mutation(path: path(user), .patch([:], mask: []), transforms: [seen])
        }
    }

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        switch side {
        case .before:
            let now = Timestamp(seconds: clock, nanoseconds: 0)
            _ = try await query(firestore, now: now).getDocuments(source: .server)
        case .filtered:
            let now = Timestamp(seconds: clock, nanoseconds: 0)
            _ = try await filtered(firestore, now: now).open()
        case .after: try await lastOpen(firestore)
        }
    }

    /// Predicts the call for the server's time, which reads one user, and the users who came
    /// online.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        let written = WrittenDocuments(seed + news)
        let rows = written.rows(news.map(\.path))
        var forecast = Forecast()
        forecast.add("the server's time", .query(rows.prefix(1)))
        forecast.add("users seen since: \(rows.count)", .query(rows))
        return forecast
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        switch side {
        case .before:
            let query = query(firestore, now: try await visit.direct.now())
            if try await !query.getDocuments(source: .cache).isEmpty { visit.sawContent() }
            let found = try await visit.retrying {
                try await query.getDocuments(source: .server, within: .seconds(30))
            }
            visit.isUpToDate()
            return found.documents.shownItems
        case .filtered:
            let list = filtered(firestore, now: try await visit.direct.now())
            let found = try await list.open { visit.sawContent() }
            visit.isUpToDate()
            return found.shownItems
        case .after: return try await open(firestore, visit)
        }
    }

    @MainActor
    private func lastOpen(_ firestore: Firestore) async throws {
        try await ChatsApp(firestore, me: Membership.user).online().untilFresh()
    }

    @MainActor
    private func open(_ firestore: Firestore, _ visit: Visit) async throws -> [ShownItem] {
        let online = try ChatsApp(firestore, me: Membership.user).online()
        try await online.untilFresh { visit.sawContent() }
        visit.isUpToDate()
        return online.users.map(\.document).shownItems
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        let since = try await server.now().advanced(by: .seconds(-Self.window))
        return Truth(try await server.documents(in: collection)) { document in
            guard case .timestamp(let time)? = document.fields[Self.seenAt] else { return false }
            return time > since
        }
    }

    /// Returns the list of the filtered app. Its listener begins at the newest user on the device,
    /// or else at the start of the window.
    private func filtered(_ firestore: Firestore, now: Timestamp) -> FilteredList {
        FilteredList(
            items: firestore.collection(collection.text), time: Self.seenAt,
            start: now.advanced(by: .seconds(-Self.window)))
    }

    /// Returns the query of the app as it was: the last 24 hours, each time.
    private func query(_ firestore: Firestore, now: Timestamp) -> Tidemark.Query {
        firestore.collection(collection.text)
            .whereField(Self.seenAt, isGreaterThan: now.advanced(by: .seconds(-Self.window)))
    }
}
