import ChatsCore
import Foundation
import Tidemark
import TidemarkApp
import TidemarkModel
import TidemarkTesting

/// A chat that the user opens at the same hour on most days, and that is brought up to date before.
/// The row measures the benefit and the cost of the predictions.
struct PrefetchRow: ScenarioRow {
    private static let day: Int64 = 86_400
    /// The time of the opening after midnight, in seconds.
    private static let opening: Int64 = 8 * 3_600 + 1_200
    /// The number of days that are played after two weeks of habit, and the day on which the user
    /// does not come.
    private static let days = 5
    private static let absent = 3
    private let events: [HistoryEvent]
    private let daily: Int

    /// - Precondition: There are more events than those of the days.
    init(_ events: [HistoryEvent], daily: Int) {
        precondition(events.count > Self.days * daily)
        self.events = events
        self.daily = daily
    }

    let slug = "prefetch"
    let sides = Side.allCases
    var name: String {
        "a chat opened at 8:20, read ahead on \(Self.days) days with \(daily) new each"
    }
    var bar: Bar {
        Bar(
            // A day has the new messages, and one read for the query. An open has one read for the
            // query and one for the mark of the last clear. The chat is never opened before it was
            // read ahead.
            reads: Self.days * (daily + 1) + 2 * (Self.days - 1), showsContentOffline: false,
            most: ["reads when opened": Double(2 * (Self.days - 1))],
            exactly: ["hits": Double(Self.days - 1), "misses": 1])
    }

    let otherLabels = [Prefetcher.label]

    private func chat(_ side: Side) -> String { "habit-\(side.rawValue)" }

    private func collection(_ side: Side) -> CollectionPath {
        CollectionPath(unchecked: "chats/\(chat(side))/messages")
    }

    private func messages(_ day: Int, _ side: Side) -> [Mutation] {
        let first = events.count - (Self.days - day) * daily
        return events[first..<(first + daily)].map { HistoryScript.insert($0, collection(side)) }
    }

    var seed: [Mutation] {
        sides.flatMap { side in
            Membership.set(above: collection(side))
                + events.dropLast(Self.days * daily).map {
                    HistoryScript.insert($0, collection(side))
                }
        }
    }

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        switch side {
        // The app as it was asks the server every time, so there is nothing to prepare.
        case .before: break
        case .filtered: _ = try await filtered(firestore).open()
        case .after: try await lastOpen(firestore)
        }
    }

    /// Predicts for each day the marks and the new messages that are read ahead, and for each day
    /// with an opening the marks and a listener that finds nothing.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        var forecast = Forecast()
        for day in 0..<Self.days {
            let news = messages(day, .after)
            let rows = WrittenDocuments(news).rows(news.map(\.path))
            forecast.add("marks ahead", .document(bytes: 0))
            forecast.add("messages ahead: \(rows.count)", .query(rows))
            if day == Self.absent { continue }
            forecast.add("marks", .document(bytes: 0))
            forecast.add("listener of 0", .query([ExpectedRow]()))
        }
        return forecast
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        switch side {
        case .before:
            var shown: [QueryDocumentSnapshot] = []
            for day in 0..<Self.days {
                try await visit.happens(messages(day, side), over: Self.day)
                if day == Self.absent { continue }
                shown = try await visit.retrying {
                    try await firestore.collection(collection(side).text)
                        .getDocuments(source: .server, within: .seconds(60)).documents
                }
            }
            visit.isUpToDate()
            return shown.shownItems
        case .filtered:
            var shown: [QueryDocumentSnapshot] = []
            for day in 0..<Self.days {
                try await visit.happens(messages(day, side), over: Self.day)
                if day == Self.absent { continue }
                shown = try await filtered(firestore).open { visit.sawContent() }
            }
            visit.isUpToDate()
            return shown.shownItems
        case .after: return try await live(firestore, visit)
        }
    }

    private func filtered(_ firestore: Firestore) -> FilteredList {
        FilteredList(
            items: firestore.collection(collection(.filtered).text), time: ItemFields.time)
    }

    @MainActor
    private func app(_ firestore: Firestore) -> ChatsApp {
        ChatsApp(firestore, me: Membership.user)
    }

    @MainActor
    private func lastOpen(_ firestore: Firestore) async throws {
        try await app(firestore).chat(chat(.after)).messages.untilFresh()
    }

    @MainActor
    private func live(_ firestore: Firestore, _ visit: Visit) async throws -> [ShownItem] {
        let clock = ManualClock()
        var app = app(firestore)
        app.clock = clock
        app.now = { Self.monday.advanced(by: clock.now.time) }
        let habit = habit
        let prefetcher = app.readingAhead(habit)
        await prefetcher.setEnabled(true)
        var (reads, ahead, opened) = (0, 0, 0)
        var shown: [ShownItem] = []
        // Wait for the network, which is back by the first morning.
        try await visit.untilOnline()
        for day in 0..<Self.days {
            try await visit.happens(messages(day, .after), over: Self.day)
            // The prefetcher sleeps until ten minutes before the user comes, and again after it has
            // read.
            await clock.sleepers()
            let opening = Duration.seconds(Int64(day) * Self.day + Self.opening)
            clock.advance(by: opening - habit.lead - clock.now.time)
            await clock.sleepers()
            (reads, ahead) = try await after(reads, sum: ahead, firestore: firestore, visit: visit)
            if day == Self.absent { continue }
            try await visit.happens([], over: 600)
            clock.advance(by: opening - clock.now.time)
            await prefetcher.opened(chat(.after))
            shown = try await open(app, visit)
            try await visit.untilNobodyListens(firestore)
            (reads, opened) = try await after(
                reads, sum: opened, firestore: firestore, visit: visit)
        }
        clock.advance(by: .seconds(Int64(Self.days) * Self.day) - clock.now.time)
        var ledger = await prefetcher.ledger
        ledger.expire(at: app.now())
        await prefetcher.setEnabled(false)
        visit.isUpToDate()
        visit.measured("reads ahead", Double(ahead))
        visit.measured("reads when opened", Double(opened))
        visit.measured("hits", Double(ledger.hits))
        visit.measured("misses", Double(ledger.misses))
        return shown
    }

    /// Returns the number of reads so far, and `sum` plus the reads since there were `reads`.
    private func after(
        _ reads: Int, sum: Int, firestore: Firestore, visit: Visit
    ) async throws -> (Int, Int) {
        let now = try await visit.reads(of: firestore)
        return (now, sum + now - reads)
    }

    /// Opens the chat for as long as the user looks at it.
    @MainActor
    private func open(_ app: ChatsApp, _ visit: Visit) async throws -> [ShownItem] {
        let chat = try app.chat(chat(.after))
        try await chat.messages.untilFresh { visit.sawContent() }
        return try await chat.show(visit)
    }

    /// The start of 20 November 2023 in UTC.
    private static let monday = Timestamp(seconds: 1_700_438_400, nanoseconds: 0)

    /// The predictor of a user who came at 8:20 on each of the 14 previous days.
    private var habit: PrefetchPredictor {
        var predictor = PrefetchPredictor(timeZone: .gmt)
        for day in 1...14 {
            let time = Self.monday.advanced(by: .seconds(Int64(-day) * Self.day + Self.opening))
            predictor.opened(chat(.after), at: time)
        }
        return predictor
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        let all = try await server.documents(in: collection(side))
        return side != .after ? Truth(all) : Truth(newest: ChatsApp.heldMessages, of: all)
    }
}
