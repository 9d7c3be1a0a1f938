import Foundation
import Tidemark
import TidemarkApp
import TidemarkModel

/// A chat that is opened at the same hour on most days, brought up to date before it is: what the
/// predictions were worth, and what they cost.
struct PrefetchRow: ScenarioRow {
    private static let day: Int64 = 86_400
    private static let context = "chat"
    /// Days that are played after two weeks of habit; on one of them the user does not come.
    private static let days = 5
    private static let absent = 3
    private let events: [HistoryEvent]
    private let daily: Int

    /// - Precondition: There are more than those of the days.
    init(_ events: [HistoryEvent], daily: Int) {
        precondition(events.count > Self.days * daily)
        self.events = events
        self.daily = daily
    }

    let slug = "prefetch"
    var name: String {
        "a chat opened at 8:20, read ahead on \(Self.days) days with \(daily) new each"
    }
    var bar: Bar {
        Bar(
            reads: Self.days * daily + 2 * Self.days,
            most: ["reads when opened": Double(Self.days)],
            exactly: ["hits": Double(Self.days - 1), "misses": 1])
    }

    private func collection(_ side: Side) -> CollectionPath {
        CollectionPath(unchecked: "chats/habit-\(side.rawValue)/messages")
    }

    private func messages(_ day: Int, _ side: Side) -> [Mutation] {
        let first = events.count - (Self.days - day) * daily
        return events[first..<(first + daily)].map { HistoryScript.insert($0, collection(side)) }
    }

    var seed: [Mutation] {
        Side.allCases.flatMap { side in
            Membership.set(above: collection(side))
                + events.dropLast(Self.days * daily).map {
                    HistoryScript.insert($0, collection(side))
                }
        }
    }

    private func feed(_ firestore: Firestore) throws -> Feed {
        try Feed(
            FeedDefinition(
                query: firestore.collection(collection(.after).text), itemTime: ItemFields.time,
                way: .changeTime(ItemFields.updatedAt, deletedField: ItemFields.deletedAt)))
    }

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        if side == .after { try await feed(firestore).sync() }
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        guard side == .after else {
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
        }
        let feed = try feed(firestore)
        if try await !feed.open().isEmpty { visit.sawContent() }
        var ledger = PrefetchLedger()
        var predictor = Self.habit
        var (ahead, opened) = (0, 0)
        for day in 0..<Self.days {
            try await visit.happens(messages(day, side), over: Self.day)
            let morning = Self.monday.advanced(by: .seconds(Int64(day) * Self.day))
            let arrival = morning.advanced(by: .seconds(8 * 3_600 + 1_200))
            for warming in predictor.warmings(of: Self.context, after: morning)
            where warming.at < arrival {
                ahead += try await visit.retrying { try await feed.sync() }.reads
                ledger.warmed(Self.context, at: warming.at)
            }
            if day == Self.absent { continue }
            try await visit.happens([], over: 600)
            opened += try await visit.retrying { try await feed.sync() }.reads
            ledger.opened(Self.context, at: arrival)
            predictor.opened(Self.context, at: arrival)
        }
        ledger.expire(at: Self.monday.advanced(by: .seconds(Int64(Self.days) * Self.day)))
        visit.isUpToDate()
        visit.measured("reads ahead", Double(ahead))
        visit.measured("reads when opened", Double(opened))
        visit.measured("hits", Double(ledger.hits))
        visit.measured("misses", Double(ledger.misses))
        return try await feed.loadAll().map(\.document).shownItems
    }

    /// 20 November 2023, midnight, UTC.
    private static let monday = Timestamp(seconds: 1_700_438_400, nanoseconds: 0)

    /// Of somebody who came at 8:20 on each of 14 days before.
    private static var habit: PrefetchPredictor {
        var predictor = PrefetchPredictor(timeZone: .gmt)
        for day in 1...14 {
            let time = monday.advanced(by: .seconds(Int64(-day) * Self.day + 8 * 3_600 + 1_200))
            predictor.opened(context, at: time)
        }
        return predictor
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Truth(try await server.documents(in: collection(side)))
    }
}
