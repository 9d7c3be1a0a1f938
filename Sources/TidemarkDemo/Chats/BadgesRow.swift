import ChatsCore
import Tidemark
import TidemarkApp
import TidemarkModel

/// A chat list with a badge for each conversation, opened again after new messages in some
/// conversations. Then one more message arrives, and its badge must appear with it.
struct BadgesRow: ScenarioRow {
    private static let chats = CollectionPath(unchecked: "chats")
    private static let news = "the last word"
    /// The number of conversations that were read to their end. All others have a badge.
    private static let seen = 10

    private let count: Int
    private let changed: Int
    /// The server's time at which the conversations are written, in seconds since 1970.
    private let clock: Int64

    /// - Precondition: There are more conversations than `seen`, and at most all of them change.
    init(conversations count: Int, changed: Int, clock: Int64) {
        precondition(count > Self.seen && (1...count).contains(changed))
        (self.count, self.changed, self.clock) = (count, changed, clock)
    }

    let slug = "badges"
    let sides = Side.allCases
    var name: String {
        "a chat list of \(grouped(count)) with badges, \(changed) with new messages"
    }
    /// The row reads one document for each changed conversation, and three more: the change on
    /// the open screen, the listener, which finds nothing new at first, and the document with the
    /// counts of seen messages.
    var bar: Bar {
        Bar(
            reads: changed + 3, fewer: 0.95, isKnownToDevice: true,
            exactly: ["messages without their badge": 0, "reads beside the prediction": 0])
    }

    func user(_ side: Side) -> String { "\(slug)-\(side.rawValue)" }

    // MARK: What is there

    private func path(_ number: Int, _ side: Side) -> DocumentPath {
        DocumentPath(unchecked: "\(Self.chats.text)/\(slug)-\(side.rawValue)-\(number)")
    }

    /// Returns the path of the document with the counts of messages that the user has seen. Both
    /// apps have this document.
    private func seenPath(_ side: Side) -> String { "users/\(user(side))/state/seen" }

    private func messagesAtFirst(_ number: Int) -> Int64 { Int64(1 + number % 9) }

    private func time(_ number: Int) -> Timestamp {
        Timestamp(seconds: clock - 600 - 60 * Int64(number), nanoseconds: 0)
    }

    var seed: [Mutation] { sides.flatMap { seeded($0) } }

    private func seeded(_ side: Side) -> [Mutation] {
        let chats = (0..<count).map { number in
            Mutation(
                path: path(number, side),
                .set([
                    Membership.field: .array([.string(user(side))]), "title": .string("\(number)"),
                    "lastText": .string("hello"), "lastMessageAt": .timestamp(time(number)),
                    "messageCount": .integer(messagesAtFirst(number)),
                ]),
                transforms: [FieldTransform(FieldPath(name: "updatedAt"), .serverTimestamp)])
        }
        let seen: [(String, TidemarkModel.Value)] = (0..<Self.seen).map { number in
            (path(number, side).id, .integer(messagesAtFirst(number)))
        }
        return chats + [
            Mutation(
                path: DocumentPath(unchecked: seenPath(side)),
                .set(["chats": .map(MapValue(seen))]))
        ]
    }

    private func send(_ text: String, to number: Int, _ side: Side) -> Mutation {
        Mutation(
            path: path(number, side),
            .patch(
                ["lastText": .string(text)], mask: [FieldPath(name: "lastText")]),
            transforms: [
                FieldTransform(FieldPath(name: "lastMessageAt"), .serverTimestamp),
                FieldTransform(FieldPath(name: "updatedAt"), .serverTimestamp),
                FieldTransform(FieldPath(name: "messageCount"), .increment(.integer(1))),
            ], precondition: .exists(true))
    }

    /// The new messages: one to three in each changed conversation, including a conversation that
    /// was read to its end.
    var news: [Mutation] {
        sides.flatMap { side in
            (0..<changed).flatMap { place in
                (0...(place % 3)).map { send("news \($0)", to: place * (count / changed), side) }
            }
        }
    }

    /// The number of the conversation that gets the last message.
    private var last: Int { count / 2 + 1 }

    // MARK: What is done

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        switch side {
        case .before:
            _ = try await firestore.document(seenPath(side)).getDocument(source: .server)
            // tidemark:ignore unbounded-listener the app as it was
            for try await snapshot in query(firestore).snapshots(includeMetadataChanges: true) {
                if !snapshot.metadata.isFromCache { break }
            }
        case .filtered: _ = try await filtered(firestore).open()
        case .after: try await lastOpen(firestore)
        }
    }

    @MainActor
    private func lastOpen(_ firestore: Firestore) async throws {
        let list = try app(firestore).chats()
        try await untilShown { list.isFresh && list.rows.contains { $0.unread == 0 } }
    }

    /// Predicts the list, the document with the seen counts, and the message that arrives on the
    /// open screen.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        let user = user(.after)
        let last = send(Self.news, to: last, .after)
        let written = WrittenDocuments(seed + news + [last])
        let indexed = WrittenDocuments.timeBytes + user.utf8.count + 1
        let changed = news.map(\.path).filter { $0.id.hasPrefix(user) }
        var forecast = Forecast()
        try await forecast.add(
            Feed(app(firestore).chatList), changed: written.rows(changed, indexed: indexed))
        let seen = written.rows([DocumentPath(unchecked: seenPath(.after))])
        forecast.add("seen counts", .document(bytes: seen.first?.documentBytes ?? 0))
        forecast.addUpdates("messages on the open screen", of: written.rows([last.path]))
        return forecast
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        switch side {
        case .before: try await useBefore(visit)
        case .filtered: try await useFiltered(visit)
        case .after: try await useAfter(visit)
        }
    }

    @MainActor
    private func useAfter(_ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        let app = app(firestore)
        let prediction = try await app.nextOpen().prediction
        let list = try app.chats()
        try await untilShown { list.unreadTotal > 0 }
        visit.sawContent()
        try await untilShown { list.isFresh }
        visit.isUpToDate()
        // Load all rows for the comparison, although a user sees only the window.
        while list.hasMore { await list.loadMore() }
        let id = path(last, .after).id
        let known = list.rows.first { $0.id == id }?.unread ?? 0
        try await visit.happens([send(Self.news, to: last, .after)])
        var withoutBadge = 0
        try await untilShown {
            guard let row = list.rows.first(where: { $0.id == id }), row.chat.lastText == Self.news
            else { return false }
            if row.unread != known + 1 { withoutBadge += 1 }
            return row.unread == known + 1
        }
        visit.measured("messages without their badge", Double(withoutBadge))
        // Subtract the reads of the document with the seen counts and of the last message.
        let reads = try await visit.reads(of: firestore) - 2
        visit.measured("reads of the refresh", Double(reads))
        visit.measured("reads beside the prediction", Double(prediction.distance(to: reads)))
        return list.rows.map { Self.shown($0.id, Int64($0.unread)) }
    }

    private func app(_ firestore: Firestore) -> ChatsApp {
        ChatsApp(firestore, me: user(.after))
    }

    /// Plays the app as it was: a listener on all of the user's conversations, and one document
    /// with the counts of messages that the user has seen.
    private func useBefore(_ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        async let document = visit.retrying {
            try await seen(.before, firestore)
        }
        var shown: [QueryDocumentSnapshot] = []
        var isUpToDate = false
        // tidemark:ignore unbounded-listener the app as it was
        for try await snapshot in query(firestore).snapshots(includeMetadataChanges: true) {
            shown = snapshot.documents
            if snapshot.metadata.isFromCache {
                if !shown.isEmpty { visit.sawContent() }
                continue
            }
            if !isUpToDate {
                isUpToDate = true
                visit.isUpToDate()
                try await visit.happens([send(Self.news, to: last, .before)])
            }
            if shown.contains(where: { $0["lastText"] as? String == Self.news }) { break }
        }
        return Self.shown(shown, seen: try await document)
    }

    /// Plays the filtered app: a listener on the conversations with a message newer than the newest
    /// one on the device.
    private func useFiltered(_ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        async let document = visit.retrying {
            try await seen(.filtered, firestore)
        }
        let list = filtered(firestore)
        var shown: [QueryDocumentSnapshot] = []
        var isUpToDate = false
        for try await _ in try await list.live(sawContent: { visit.sawContent() }) {
            shown = try await list.shown()
            if !isUpToDate {
                isUpToDate = true
                visit.isUpToDate()
                try await visit.happens([send(Self.news, to: last, .filtered)])
            }
            if shown.contains(where: { $0["lastText"] as? String == Self.news }) { break }
        }
        return Self.shown(shown, seen: try await document)
    }

    private func seen(_ side: Side, _ firestore: Firestore) async throws -> DocumentSnapshot {
        try await firestore.document(seenPath(side))
            .getDocument(source: .server, within: .seconds(30))
    }

    private static func shown(
        _ chats: [QueryDocumentSnapshot], seen document: DocumentSnapshot
    ) -> [ShownItem] {
        let seen = document["chats"] as? [String: Any] ?? [:]
        return chats.map { chat in
            let all = chat["messageCount"] as? Int64 ?? 0
            return shown(chat.documentID, all - (seen[chat.documentID] as? Int64 ?? 0))
        }
    }

    private static func shown(_ id: String, _ unread: Int64) -> ShownItem {
        ShownItem(id: "\(id) has \(unread)", version: .min)
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        let seen = Dictionary(
            uniqueKeysWithValues: (0..<Self.seen).map {
                (path($0, side).id, messagesAtFirst($0))
            })
        var living: [String: Timestamp] = [:]
        for chat in try await server.documents(in: Self.chats) {
            guard chat.fields[Membership.field] == .array([.string(user(side))]),
                case .integer(let all)? = chat.fields["messageCount"]
            else { continue }
            living[Self.shown(chat.path.id, all - (seen[chat.path.id] ?? 0)).id] = .min
        }
        return Truth(living: living)
    }

    private func query(_ firestore: Firestore) -> Tidemark.Query {
        chats(.before, firestore).order(by: "lastMessageAt", descending: true)
    }

    private func filtered(_ firestore: Firestore) -> FilteredList {
        FilteredList(items: chats(.filtered, firestore), time: "lastMessageAt")
    }

    private func chats(_ side: Side, _ firestore: Firestore) -> Tidemark.Query {
        firestore.collection(Self.chats.text)
            .whereField(Membership.field, arrayContains: user(side))
    }
}

extension ReadPlan.Prediction {
    /// Returns the difference between a bill and the prediction; 0 if the prediction allows the
    /// bill.
    fileprivate func distance(to reads: Int) -> Int {
        if allows(reads) { return 0 }
        return reads < atLeast ? atLeast - reads : reads - (atMost ?? reads)
    }
}
