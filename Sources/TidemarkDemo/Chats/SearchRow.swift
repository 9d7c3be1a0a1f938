import ChatsCore
import Tidemark
import TidemarkApp
import TidemarkModel
import TidemarkTesting

/// A user types names letter by letter, and deletes letters again.
struct SearchRow: ScenarioRow {
    private static let limit = 20
    private static let syllables = [
        "an", "be", "ca", "da", "el", "fi", "ga", "ha", "in", "jo", "ka", "li", "mo", "na", "ol",
        "pa", "ro", "sa", "te", "vi",
    ]
    /// The texts in the search field, one keystroke after the other.
    private static let typed = [
        "d", "da", "dan", "dana", "danab", "dana", "danac", "dana", "dan", "da", "dal", "dali",
        "dal", "da", "dan", "dana",
    ]

    /// The number of users on the server.
    private let count: Int

    init(users: Int) { count = users }

    let slug = "search"
    /// A name has no time, so there is nothing to filter by.
    let isFilteredAsBefore = true
    let isUsedBefore = false
    var name: String {
        "user search, \(Self.typed.count) keystrokes among \(grouped(count)) users"
    }
    let bar = Bar(fewer: 0.4, showsContentOffline: false)

    private let collection = CollectionPath(unchecked: "users")

    /// The users, with names of three syllables, so that many names have the same beginning.
    var seed: [Mutation] {
        (0..<count).map { index in
            let parts = [index, index / 20, index / 400].map { Self.syllables[$0 % 20] }
            let word = parts.joined()
            let name = word.prefix(1).uppercased() + word.dropFirst() + " \(index)"
            return Mutation(
                path: DocumentPath(unchecked: "\(collection.text)/p\(index)"),
                .set(["name": .string(name), "searchName": .string(SearchText.normalized(name))]))
        }
    }

    /// Predicts a query for each prefix that no earlier result answers: the same prefix, or a
    /// shorter one whose result was complete.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        let written = WrittenDocuments(seed)
        let people = written.fields.compactMap { path, fields in
            if case .string(let name)? = fields["searchName"] { (name, path) } else { nil }
        }.sorted { $0 < $1 }
        var forecast = Forecast()
        var complete: [String: Bool] = [:]
        for text in Self.typed where complete[text] == nil {
            let isAnswered = complete.contains { $0.value && text.hasPrefix($0.key) }
            if isAnswered { continue }
            let found = people.filter { $0.0.hasPrefix(text) }.prefix(Self.limit)
            complete[text] = found.count < Self.limit
            let rows = found.flatMap { name, path in
                written.rows([path], indexed: name.utf8.count + 1)
            }
            forecast.add("\(text): \(rows.count)", .query(rows))
        }
        return forecast
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        switch side {
        case .before, .filtered: try await type(visit)
        case .after: try await search(visit)
        }
    }

    /// Plays the app as it was: a query for each keystroke.
    private func type(_ visit: Visit) async throws -> [ShownItem] {
        let people = try await visit.firestore().collection(collection.text)
        var shown: [ShownItem] = []
        for (keystroke, text) in Self.typed.enumerated() {
            let found = try await visit.retrying {
                try await Self.query(people, text)
                    // tidemark:ignore read-in-loop the app as it was: each keystroke asks
                    .getDocuments(source: .server, within: .seconds(20)).documents
            }
            if !found.isEmpty { visit.sawContent() }
            shown += Self.shown(found, keystroke)
        }
        visit.isUpToDate()
        return shown
    }

    /// Plays the app on Tidemark. The typing is slow: each keystroke is a separate search, and the
    /// clock of the pauses is moved by hand.
    @MainActor
    private func search(_ visit: Visit) async throws -> [ShownItem] {
        var app = ChatsApp(try await visit.firestore(), me: Membership.user)
        let clock = ManualClock()
        app.clock = clock
        let search = try app.search()
        var shown: [ShownItem] = []
        for (keystroke, text) in Self.typed.enumerated() {
            search.text = text
            try await found(search, clock)
            // The expected result is that of all users, not only of those on the device.
            while search.isOffline || search.error != nil {
                try await visit.untilOnline()
                search.retry()
                try await found(search, clock)
            }
            if !search.documents.isEmpty { visit.sawContent() }
            shown += Self.shown(search.documents, keystroke)
        }
        visit.isUpToDate()
        return shown
    }

    @MainActor
    private func found(_ search: UserSearchModel, _ clock: ManualClock) async throws {
        guard search.isSearching else { return }
        await clock.sleepers(1)
        clock.advance(by: search.debounce)
        try await untilShown { !search.isSearching }
    }

    private static func shown(
        _ people: [QueryDocumentSnapshot], _ keystroke: Int
    ) -> [ShownItem] {
        people.map { ShownItem(id: "\(keystroke) \($0.documentID)", version: .min) }
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        let people = try await server.documents(in: collection).compactMap { document in
            if case .string(let name)? = document.fields["searchName"] {
                (name, document.path.id)
            } else {
                nil
            }
        }
        let sorted = people.sorted { $0 < $1 }
        var living: [String: Timestamp] = [:]
        for (keystroke, text) in Self.typed.enumerated() {
            let found = sorted.filter { $0.0.hasPrefix(text) }.prefix(Self.limit)
            for (_, id) in found { living["\(keystroke) \(id)"] = .min }
        }
        return Truth(living: living)
    }

    private static func query(_ people: Tidemark.Query, _ text: String) -> Tidemark.Query {
        people.whereField("searchName", isGreaterThanOrEqualTo: text)
            .whereField("searchName", isLessThan: text + "\u{10FFFF}")
            .order(by: "searchName").limit(to: limit)
    }
}
