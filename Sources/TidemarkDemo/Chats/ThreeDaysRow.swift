import ChatsCore
import Tidemark
import TidemarkApp
import TidemarkModel

/// A chat over three days with both marks: it is read to the end on the first day, opened again and
/// cleared on the second, and still open on the third.
struct ThreeDaysRow: ScenarioRow {
    private static let day: Int64 = 86_400
    private let events: [HistoryEvent]
    /// The number of messages on the second day, and on the third.
    private let daily: Int

    /// - Precondition: There are more events than those of two days.
    init(_ events: [HistoryEvent], daily: Int) {
        precondition(events.count > 2 * daily)
        // The events are in the order of their own time, so new messages are always newer: no
        // message was written offline.
        self.events = events.sorted { ($0.authoredAt, $0.id) < ($1.authoredAt, $1.id) }
        self.daily = daily
    }

    let slug = "three-days"
    let sides = Side.allCases
    var name: String {
        "a chat of \(grouped(events.count - 2 * daily)) read on day 1, \(daily) more and cleared on "
            + "day 2, \(daily) more on day 3"
    }
    /// The reads are the new messages of each day, one for the query, and two for the mark of the
    /// last clear, which the user's devices share: when the chat is opened, and when it is cleared.
    /// Only new messages count as unread.
    var bar: Bar {
        Bar(
            reads: 2 * daily + 3,
            exactly: ["unread on day 2": unread(second), "unread on day 3": unread(third)])
    }

    /// Returns the number of messages newer than those of all previous days.
    private func unread(_ day: Range<Int>) -> Double {
        let before = events[..<day.lowerBound].map(\.authoredAt).max() ?? 0
        return Double(events[day].count { $0.authoredAt > before })
    }

    /// Returns the id of the side's own chat. The messages during the use are written separately
    /// for each side.
    private func id(_ side: Side) -> String { "days-\(side.rawValue)" }

    private func collection(_ side: Side) -> CollectionPath {
        CollectionPath(unchecked: "chats/\(id(side))/messages")
    }

    private func messages(_ range: Range<Int>, _ side: Side) -> [Mutation] {
        events[range].map { HistoryScript.insert($0, collection(side)) }
    }

    private var first: Range<Int> { 0..<(events.count - 2 * daily) }
    private var second: Range<Int> { first.upperBound..<(events.count - daily) }
    private var third: Range<Int> { second.upperBound..<events.count }

    var seed: [Mutation] {
        sides.flatMap { Membership.set(above: collection($0)) + messages(first, $0) }
    }

    private func everything(_ firestore: Firestore) async throws -> [QueryDocumentSnapshot] {
        try await firestore.collection(collection(.before).text)
            .getDocuments(source: .server, within: .seconds(60)).documents
    }

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        switch side {
        case .before: _ = try await everything(firestore)
        case .filtered: _ = try await filtered(firestore).open()
        case .after: try await firstDay(firestore)
        }
    }

    /// Predicts the opening, the messages of both days on the open screen, and the mark of the
    /// clear, which returns to this device.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        let arriving = messages(second, .after) + messages(third, .after)
        let written = WrittenDocuments(arriving)
        var forecast = Forecast()
        let chat = ChatsApp(firestore, me: Membership.user).messages(of: id(.after))
        try await forecast.add(Feed(chat), changed: [])
        forecast.addUpdates("messages on the open screen", of: written.rows(arriving.map(\.path)))
        forecast.add("mark of the clear", .update(bytes: 0))
        return forecast
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        if side == .filtered { return try await filter(firestore, visit) }
        if side == .before {
            var shown: [QueryDocumentSnapshot] = []
            for day in [second, third] {
                try await visit.happens(messages(day, side), over: Self.day)
                shown = try await visit.retrying { try await everything(firestore) }
            }
            visit.isUpToDate()
            return shown.filter { document in
                guard case .timestamp(let time)? = document.fields?[ItemFields.time] else {
                    return false
                }
                return time > cleared
            }.shownItems
        }
        return try await twoDays(firestore, visit)
    }

    private func filtered(_ firestore: Firestore, since cleared: Timestamp? = nil) -> FilteredList {
        FilteredList(
            items: firestore.collection(collection(.filtered).text), time: ItemFields.time,
            start: cleared)
    }

    private func filter(_ firestore: Firestore, _ visit: Visit) async throws -> [ShownItem] {
        try await visit.happens(messages(second, .filtered), over: Self.day)
        _ = try await filtered(firestore).open { visit.sawContent() }
        try await visit.happens(messages(third, .filtered), over: Self.day)
        let shown = try await filtered(firestore, since: cleared).open()
        visit.isUpToDate()
        return shown.shownItems
    }

    /// The time up to which the user clears the chat, at the end of the second day.
    private var cleared: Timestamp {
        Timestamp(seconds: events[second].map(\.authoredAt).max() ?? 0, nanoseconds: 0)
    }

    @MainActor
    private func firstDay(_ firestore: Firestore) async throws {
        let chat = try chat(firestore)
        try await chat.messages.untilFresh()
        try await chat.messages.markConsumed()
    }

    @MainActor
    private func twoDays(_ firestore: Firestore, _ visit: Visit) async throws -> [ShownItem] {
        let chat = try chat(firestore)
        let messages = chat.messages
        try await messages.untilFresh { visit.sawContent() }
        for (number, day) in [second, third].enumerated() {
            try await visit.happens(self.messages(day, .after), over: Self.day)
            let (last, unread) = (events[day.upperBound - 1].id, unread(day))
            try await untilShown {
                let isThere = messages.items.contains { $0.value.id == last }
                return messages.isFresh && (isThere || unread == 0)
            }
            visit.measured("unread on day \(number + 2)", Double(messages.unreadCount))
            try await messages.markConsumed()
            if number == 0 { await chat.clear() }
        }
        visit.isUpToDate()
        // The mark of the clear returns to this device when it is written, which is billed.
        try await firestore.waitForPendingWrites()
        return try await chat.show(visit)
    }

    @MainActor
    private func chat(_ firestore: Firestore) throws -> ChatModel {
        try ChatsApp(firestore, me: Membership.user).chat(id(.after))
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Truth(try await server.documents(in: collection(side))) { document in
            guard case .timestamp(let time)? = document.fields[ItemFields.time] else {
                return false
            }
            return time > cleared
        }
    }
}
