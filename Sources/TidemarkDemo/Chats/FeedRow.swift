import ChatsCore
import Tidemark
import TidemarkApp
import TidemarkModel

/// A row with one list, which is opened, brought up to date and compared.
struct FeedRow: ScenarioRow {
    /// The screen of the list in the app on Tidemark.
    enum Screen: Sendable {
        /// The screens of `Examples/Chats`.
        case chat, notices
        /// A list that is opened seldom, its feed, and the number of its items on the device.
        case entries(
            @MainActor @Sendable (ChatsApp) throws -> FeedModel<Entry>,
            of: @Sendable (Firestore) -> FeedDefinition, held: Int = .max)
    }

    let name: String
    let slug: String
    let sides = Side.allCases
    var bar: Bar
    let collection: CollectionPath
    /// The writes of the items that exist at the last use.
    let held: [Mutation]
    let news: [Mutation]
    var away: Int64 = 86_400
    /// The time up to which the user cleared the list at the last use; nil if the user did not.
    var cleared: Timestamp?
    /// True if the device has never opened the list.
    var isNew = false
    var screen = Screen.chat
    /// The field with an item's own time.
    var time = ItemFields.time

    var isUsedBefore: Bool { !isNew }
    var seed: [Mutation] { Membership.set(above: collection) + held }

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        if isNew { return }
        switch side {
        case .before: _ = try await listen(firestore) {}
        case .filtered: _ = try await filtered(firestore, since: nil).open()
        case .after: try await lastOpen(firestore)
        }
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await DeviceClock.$ahead.withValue(.seconds(away)) {
            try await visit.firestore()
        }
        switch side {
        case .before:
            let documents = try await listen(firestore) { visit.sawContent() }
            visit.isUpToDate()
            return documents.filter(isVisible).shownItems
        case .filtered:
            let documents = try await filtered(firestore, since: cleared)
                .open { visit.sawContent() }
            visit.isUpToDate()
            return documents.shownItems
        case .after: return try await open(firestore, visit)
        }
    }

    @MainActor
    private func lastOpen(_ firestore: Firestore) async throws {
        let app = ChatsApp(firestore, me: Membership.user)
        switch screen {
        case .chat:
            let chat = try app.chat(chat)
            try await chat.messages.untilFresh()
            if cleared != nil { await chat.clear() }
        case .notices: try await app.notices().untilFresh()
        case .entries(let open, _, _): try await open(app).untilFresh()
        }
        // The mark is shared by a write, which must arrive before the app ends.
        try await firestore.waitForPendingWrites()
    }

    @MainActor
    private func open(_ firestore: Firestore, _ visit: Visit) async throws -> [ShownItem] {
        let app = ChatsApp(firestore, me: Membership.user)
        switch screen {
        case .chat:
            let chat = try app.chat(chat)
            try await bringUp(chat.messages, visit)
            return try await chat.show(visit)
        case .notices:
            let notices = try app.notices()
            try await bringUp(notices, visit)
            return try await notices.show()
        case .entries(let open, _, let held):
            let entries = try open(app)
            try await bringUp(entries, visit)
            return try await entries.show(atMost: held)
        }
    }

    @MainActor
    private func bringUp(
        _ list: FeedModel<some Decodable & Sendable>, _ visit: Visit
    ) async throws {
        try await list.untilFresh { visit.sawContent() }
        visit.isUpToDate()
        // A listener that goes on from the last read costs nothing, so no bill tells of it.
        try await list.untilLive()
    }

    /// Predicts the changes in the list, and for a new device its newest items. The row has the
    /// number of changes from its own news.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        let written = WrittenDocuments(held + news)
        var forecast = Forecast()
        try await forecast.add(
            Feed(definition(firestore)), changed: written.rows(news.map(\.path)),
            newest: written.newest(in: collection, by: time, above: cleared))
        return forecast
    }

    private func definition(_ firestore: Firestore) -> FeedDefinition {
        let user = firestore.collection("users").document(Membership.user)
        return switch screen {
        case .chat: ChatsApp(firestore, me: Membership.user).messages(of: chat)
        case .notices: .notifications(of: user)
        case .entries(_, let definition, _): definition(firestore)
        }
    }

    /// The id of the chat whose messages the row shows.
    private var chat: String { String(collection.text.split(separator: "/")[1]) }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        let all = try await server.documents(in: collection)
        guard side == .after else { return Truth(all) { isVisible($0.fields[time]) } }
        let held =
            switch screen {
            case .chat: ChatsApp.heldMessages
            case .entries(_, _, let held): held
            case .notices: Int.max
            }
        return Truth(newest: held, of: all.filter { isVisible($0.fields[time]) }, at: time)
    }

    /// Returns the list of the filtered app.
    private func filtered(_ firestore: Firestore, since cleared: Timestamp?) -> FilteredList {
        FilteredList(items: firestore.collection(collection.text), time: time, start: cleared)
    }

    /// Plays the app as it was: a listener on the whole collection.
    private func listen(
        _ firestore: Firestore, sawContent: () -> Void
    ) async throws -> [QueryDocumentSnapshot] {
        let items = firestore.collection(collection.text)
            .order(by: time, descending: true)
        // tidemark:ignore unbounded-listener the app as it was
        for try await snapshot in items.snapshots(includeMetadataChanges: true) {
            if !snapshot.metadata.isFromCache { return snapshot.documents }
            if snapshot.documents.contains(where: isVisible) { sawContent() }
        }
        throw CancellationError()
    }

    /// Returns true if the user has not cleared the item. The app as it was also hid cleared items,
    /// but only after it had read them.
    private func isVisible(_ document: QueryDocumentSnapshot) -> Bool {
        isVisible(document.fields?[time])
    }

    private func isVisible(_ time: TidemarkModel.Value?) -> Bool {
        guard let cleared else { return true }
        guard case .timestamp(let time)? = time else { return false }
        return time > cleared
    }
}
