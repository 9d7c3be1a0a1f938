import ChatsCore
import Tidemark
import TidemarkApp
import TidemarkModel

/// A device without data. Its user cleared the chat on another device.
struct NewDeviceRow: ScenarioRow {
    private static let mark = "chat_shared"
    private let events: [HistoryEvent]
    private let above: Int
    private let cleared: Timestamp

    /// - Parameter above: The number of messages newer than the clear.
    init(_ events: [HistoryEvent], above: Int) {
        let times = events.map(\.authoredAt).sorted()
        cleared = Timestamp(seconds: times[times.count - above - 1], nanoseconds: 0)
        self.events = events
        self.above = times.count { $0 > times[times.count - above - 1] }
    }

    let slug = "new-device"
    let sides = Side.allCases
    let isUsedBefore = false
    var name: String {
        "new device, a chat of \(grouped(events.count)) cleared elsewhere but for \(above)"
    }
    /// The reads are those of the messages after the mark, one for the mark and one for the
    /// listener. The next open adds one read.
    var bar: Bar {
        Bar(
            reads: above + 3, fewer: 0.85, showsContentOffline: false,
            most: ["reads next time": 2])
    }

    private let collection = CollectionPath(unchecked: "chats/shared/messages")
    private static let owner = "grace"
    private static let marks = "users/\(owner)/state/marks"

    func user(_ side: Side) -> String { Self.owner }

    var seed: [Mutation] {
        let milliseconds = cleared.seconds * 1_000
        let chat = Membership.set(above: collection, of: Self.owner)
        return chat + events.map { HistoryScript.insert($0, collection) } + [
            Mutation(
                path: DocumentPath(unchecked: Self.marks),
                .set([Self.mark: .integer(milliseconds)]))
        ]
    }

    /// Predicts both openings. The second follows within 30 minutes of the first, so its listener
    /// resumes.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        let written = WrittenDocuments(seed)
        let newest = written.newest(in: collection, by: ItemFields.time, above: cleared)
        var forecast = Forecast()
        let chat = ChatsApp(firestore, me: Self.owner).messages(of: "shared")
        try await forecast.add(Feed(chat), changed: [], newest: newest)
        let marks = written.rows([DocumentPath(unchecked: Self.marks)])
        forecast.add("marks again", .document(bytes: marks.first?.documentBytes ?? 0))
        return forecast
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        switch side {
        case .before:
            // The app as it was knew the mark too, but hid the messages after it had read them.
            let items = firestore.collection(collection.text)
            return try await visit.readAll(items).filter { isVisible($0.fields?[ItemFields.time]) }
                .shownItems
        case .filtered:
            // The app reads the mark first, from the user's own document.
            let marks = firestore.document(Self.marks)
            let mark = try await visit.retrying {
                try await marks.getDocument(source: .server, within: .seconds(60))
            }
            guard case .integer(let milliseconds)? = mark.fields?[Self.mark] else { return [] }
            let list = FilteredList(
                items: firestore.collection(collection.text), time: ItemFields.time,
                start: Timestamp(microseconds: milliseconds * 1_000))
            let shown = try await list.open { visit.sawContent() }
            visit.isUpToDate()
            return shown.shownItems
        case .after: return try await openTwice(firestore, visit)
        }
    }

    @MainActor
    private func openTwice(_ firestore: Firestore, _ visit: Visit) async throws -> [ShownItem] {
        let bills = firestore.readMeter.events
        do {
            let chat = try ChatsApp(firestore, me: Self.owner).chat("shared")
            try await chat.messages.untilFresh()
            visit.isUpToDate()
            try await visit.untilListening(firestore, bills)
        }
        let reads = try await visit.reads(of: firestore)
        let chat = try ChatsApp(firestore, me: Self.owner).chat("shared")
        try await chat.messages.untilFresh()
        let shown = try await chat.show(visit)
        visit.measured("reads next time", Double(try await visit.reads(of: firestore) - reads))
        return shown
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Truth(try await server.documents(in: collection)) { document in
            isVisible(document.fields[ItemFields.time])
        }
    }

    private func isVisible(_ time: TidemarkModel.Value?) -> Bool {
        guard case .timestamp(let time)? = time else { return false }
        return time > cleared
    }
}
