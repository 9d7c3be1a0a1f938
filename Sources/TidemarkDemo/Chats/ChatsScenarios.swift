import ChatsCore
import Tidemark
import TidemarkApp
import TidemarkModel

/// The rows of journeys 2, made from a history.
struct ChatsScenarios {
    /// The divisor of all sizes: 1, or 10 for a quick look.
    var scale = 1
    /// The number of messages in the longest chat, at a scale of 1.
    var longChat = 100_000
    let history: History
    let seed: UInt64

    var rows: [any ScenarioRow] {
        [
            // This row is first, because its online users depend on how far the server's clock has
            // moved.
            OnlineRow(users: 2_000 / scale, returning: 40 / scale, clock: clock),
            openChat, openAgain, notifications, activity, clearThenReopen, afterAWeek,
            afterAMonth, newChat,
            NewDeviceRow(history.stretched(to: 1_000 / scale), above: 100 / scale),
            LongChatRow(history.stretched(to: longChat / scale)),
            ThreeDaysRow(history.stretched(to: 360 / scale), daily: 30 / scale),
            PrefetchRow(history.stretched(to: 1_200 / scale), daily: 40 / scale),
            BadgesRow(
                conversations: 1_000 / scale, changed: 20 / scale, clock: clock),
            BlockedUsersRow(
                held: 500 / scale, blocked: 20 / scale, unblocked: 10 / scale, clock: clock),
            UnreadByPerson.row(
                messages: 3_000 / scale, changed: 20 / scale, clock: clock),
            MessagesWithWord.row(
                messages: 3_000 / scale, changed: 20 / scale, clock: clock),
            SearchRow(users: 8_000 / scale), SingleDocumentsRow(),
            UpdateRow(history.stretched(to: 500 / scale), new: 20 / scale),
            // A photo has more than one chunk of 256 KiB.
            PhotosRow(size: 400_000, on: scale == 1 ? .threeG : .healthy),
        ] + presets
    }

    /// The lists that are opened seldom. The old app reads them whole each time.
    private var presets: [any ScenarioRow] {
        var calls = list(
            "call log", "calls", of: 500, new: 10, in: "users/ada/calls", at: "startedAt")
        calls.screen = .entries({ try $0.calls() }, of: { .callLog(of: Self.user($0)) })
        var purchases = list(
            "purchases", "purchases", of: 200, new: 10, in: "users/ada/purchases",
            at: "purchasedAt")
        purchases.screen = .entries(
            { try $0.purchases() }, of: { .purchases(of: Self.user($0)) })
        var media = list(
            "media", "media", of: 2_000, new: 30, in: "chats/blue/media", at: "sharedAt")
        media.screen = .entries(
            { try $0.media(of: "blue") },
            of: { .media(of: $0.document("chats/blue"), limit: ChatsApp.heldMedia) },
            held: ChatsApp.heldMedia)
        return [calls, purchases, media]
    }

    /// A chat with more new messages than the phone holds. The phone counts the changes and reads
    /// the newest messages, as many as a new phone reads. The mark of the last clear costs a read,
    /// as in each row.
    private var afterAMonth: FeedRow {
        var row = list(
            "back after a month: a chat", "after-a-month", of: 1_000, new: 800,
            in: "chats/month/messages")
        row.away = 30 * 86_400
        row.bar.reads = min(800 / scale, ChatsApp.heldMessages) + 1 + 1
        return row
    }

    /// A chat that this device has never read. The phone reads the newest messages that it holds,
    /// and starts a listener for later changes, which finds nothing at first.
    private var newChat: FeedRow {
        let held = min(300 / scale, ChatsApp.heldMessages)
        var row = list(
            "a new chat, its newest \(held) for the first time:", "new-chat", of: 300, new: 10,
            in: "chats/new/messages")
        row.isNew = true
        row.bar.reads = held + 2
        row.bar.showsContentOffline = false
        return row
    }

    private static func user(_ firestore: Firestore) -> DocumentReference {
        firestore.collection("users").document(Membership.user)
    }

    /// The server's time in seconds since 1970. No event of any row is later.
    var clock: Int64 { max(history.end, history.events.map(\.authoredAt).max() ?? 0) }

    /// The sentence for the first line about rows that are larger than the history.
    var remark: String {
        let largest = 10_000 / scale
        guard history.events.count < largest else { return "" }
        return """
            A row with more items than the history of \(grouped(history.events.count)) events \
            repeats the history with other ids.
            """
    }

    /// A chat with new messages. It reads these, and the mark of the last clear, which the user's
    /// devices share.
    private var openChat: FeedRow {
        var row = list("open a chat", "open-chat", of: 1_000, new: 50, in: "chats/blue/messages")
        row.bar.fewer = 1 - Double(50 / scale + 1) / Double(1_000 / scale)
        return row
    }

    /// A chat opened again within the 30 minutes for which a listener resumes. A listener on the
    /// whole chat is then billed only for the changes.
    private var openAgain: FeedRow {
        let collection = CollectionPath(unchecked: "chats/again/messages")
        let all = history.stretched(to: 1_000 / scale).map { HistoryScript.insert($0, collection) }
        return FeedRow(
            name: "open a chat of \(grouped(all.count)) again, with 1 new", slug: "open-again",
            bar: Bar(reads: 3, isKnownToDevice: true), collection: collection,
            held: Array(all.dropLast()), news: Array(all.suffix(1)), away: 20 * 60)
    }

    private var notifications: FeedRow {
        var row = list(
            "notifications", "notifications", of: 10_000, new: 50,
            in: "users/ada/notifications", at: "createdAt")
        row.screen = .notices
        row.bar.fewer = 0.995
        return row
    }

    private var activity: FeedRow {
        var row = list(
            "activity feed", "activity", of: 5_000, new: 20, in: "activity/all/posts",
            at: "createdAt")
        row.bar.fewer = 0.996
        row.screen = .entries(
            { try $0.activity() }, of: { .activity($0.collection("activity/all/posts")) })
        return row
    }

    private var clearThenReopen: FeedRow {
        let collection = CollectionPath(unchecked: "chats/cleared/messages")
        let all = history.stretched(to: 1_000 / scale)
        let (new, edits) = (30 / scale, max(1, 3 / scale))
        let old = all.dropLast(new)
        let mark = old.map(\.authoredAt).max() ?? 0
        // Another user edits messages that this user has cleared. They must not reappear.
        let edited = old.suffix(edits).map {
            HistoryScript.edit($0, number: 0, collection: collection)
        }
        return FeedRow(
            name:
                "clear a chat of \(grouped(old.count)), then reopen with \(new) new and \(edits) edited",
            slug: "clear-then-reopen",
            bar: Bar(
                reads: new + edits + 1, fewer: 0.95, isKnownToDevice: true,
                showsContentOffline: false),
            collection: collection, held: old.map { HistoryScript.insert($0, collection) },
            news: edited + all.suffix(new).map { HistoryScript.insert($0, collection) },
            cleared: Timestamp(seconds: mark, nanoseconds: 0))
    }

    /// A week with edits and deletes of old items, as in the first demo.
    private var afterAWeek: FeedRow {
        let collection = CollectionPath(unchecked: "chats/week/messages")
        let week = history.busiestWeek
        let events = history.events[..<week.upperBound].suffix(max(4_000 / scale, week.count + 1))
        let start = history.events[week.lowerBound].committedAt
        let script = HistoryScript(
            History(Array(events), source: history.source, limit: nil), collection: collection,
            seed: seed)
        let (seed, news) = (
            script.steps.filter { $0.time < start }, script.steps.filter { $0.time >= start }
        )
        let changed = Set(news.map(\.mutation.path)).count
        return FeedRow(
            name: "back after a week in which \(changed) of \(grouped(script.items)) changed",
            slug: "after-a-week",
            // A count, and the mark of the last clear.
            bar: Bar(reads: min(changed, ChatsApp.heldMessages) + 1 + 1, isKnownToDevice: true),
            collection: collection,
            held: seed.map(\.mutation), news: news.map(\.mutation), away: 7 * 86_400)
    }

    /// - Parameters:
    ///   - count: The number of items including the new ones, as in the journey.
    ///   - time: The field with an item's own time.
    private func list(
        _ name: String, _ slug: String, of count: Int, new: Int, in path: String,
        at time: String = ItemFields.time
    ) -> FeedRow {
        let (count, new) = (count / scale, new / scale)
        let collection = CollectionPath(unchecked: path)
        let all = history.stretched(to: count).map {
            HistoryScript.insert($0, collection, at: time)
        }
        return FeedRow(
            name: "\(name) of \(grouped(count)) with \(new) new", slug: slug,
            bar: Bar(reads: new + 1, isKnownToDevice: true), collection: collection,
            held: Array(all.dropLast(new)),
            news: Array(all.suffix(new)), time: time)
    }
}
