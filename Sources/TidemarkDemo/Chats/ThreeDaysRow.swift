import Tidemark
import TidemarkApp
import TidemarkModel

/// A chat over three days with both marks: read to the end on the first, cleared on the second, opened
/// again on the third.
struct ThreeDaysRow: ScenarioRow {
    private static let day: Int64 = 86_400
    private let events: [HistoryEvent]
    /// Messages of the second day, and of the third.
    private let daily: Int

    /// - Precondition: There are more than those of two days.
    init(_ events: [HistoryEvent], daily: Int) {
        precondition(events.count > 2 * daily)
        // Nobody writes offline in this one: what is new is newer.
        self.events = events.sorted { ($0.authoredAt, $0.id) < ($1.authoredAt, $1.id) }
        self.daily = daily
    }

    let slug = "three-days"
    var name: String {
        "a chat of \(grouped(events.count - 2 * daily)) read on day 1, \(daily) more and cleared on "
            + "day 2, \(daily) more on day 3"
    }
    /// What is new on each day, and one for asking; unread are the new ones alone.
    var bar: Bar {
        Bar(
            reads: 2 * daily + 2,
            exactly: ["unread on day 2": unread(second), "unread on day 3": unread(third)])
    }

    /// Those that are newer than all of the days before.
    private func unread(_ day: Range<Int>) -> Double {
        let before = events[..<day.lowerBound].map(\.authoredAt).max() ?? 0
        return Double(events[day].count { $0.authoredAt > before })
    }

    /// What others write during the use is written for each side anew.
    private func collection(_ side: Side) -> CollectionPath {
        CollectionPath(unchecked: "chats/days-\(side.rawValue)/messages")
    }

    private func messages(_ range: Range<Int>, _ side: Side) -> [Mutation] {
        events[range].map { HistoryScript.insert($0, collection(side)) }
    }

    private var first: Range<Int> { 0..<(events.count - 2 * daily) }
    private var second: Range<Int> { first.upperBound..<(events.count - daily) }
    private var third: Range<Int> { second.upperBound..<events.count }

    var seed: [Mutation] {
        Side.allCases.flatMap { Membership.set(above: collection($0)) + messages(first, $0) }
    }

    private func feed(_ firestore: Firestore) throws -> Feed {
        try Feed(
            FeedDefinition(
                query: firestore.collection(collection(.after).text), itemTime: ItemFields.time,
                way: .changeTime(ItemFields.updatedAt, deletedField: ItemFields.deletedAt)))
    }

    private func everything(_ firestore: Firestore) async throws -> [QueryDocumentSnapshot] {
        try await firestore.collection(collection(.before).text)
            .getDocuments(source: .server, within: .seconds(60)).documents
    }

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        guard side == .after else { return _ = try await everything(firestore) }
        let feed = try feed(firestore)
        try await feed.open()
        try await feed.sync()
        try await feed.markConsumed()
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        if side == .before {
            var shown: [QueryDocumentSnapshot] = []
            for day in [second, third] {
                try await visit.happens(messages(day, side), over: Self.day)
                shown = try await visit.retrying { try await everything(firestore) }
            }
            visit.isUpToDate()
            let cleared = events[second].map(\.authoredAt).max() ?? 0
            return shown.filter { document in
                guard case .timestamp(let time)? = document.fields?[ItemFields.time] else {
                    return false
                }
                return time.seconds > cleared
            }.shownItems
        }
        let feed = try feed(firestore)
        if try await !feed.open().isEmpty { visit.sawContent() }
        for (number, day) in [second, third].enumerated() {
            try await visit.happens(messages(day, side), over: Self.day)
            _ = try await visit.retrying { try await feed.sync() }
            visit.measured("unread on day \(number + 2)", Double(await feed.unreadCount))
            try await feed.markConsumed()
            if number == 0 { try await feed.clear() }
        }
        visit.isUpToDate()
        return try await feed.loadAll().map(\.document).shownItems
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        let cleared = Timestamp(
            seconds: events[second].map(\.authoredAt).max() ?? 0, nanoseconds: 0)
        return Truth(try await server.documents(in: collection(side))) { document in
            guard case .timestamp(let time)? = document.fields[ItemFields.time] else {
                return false
            }
            return time > cleared
        }
    }
}
