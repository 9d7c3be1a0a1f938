import Testing
import Tidemark
import TidemarkApp
import TidemarkTesting

/// Tests that each preset reads only its own items, newest first.
@Suite(.timeLimit(.minutes(2))) struct `Presets of feeds` {
    private func items(_ definition: FeedDefinition) async throws -> [String] {
        let feed = try Feed(definition)
        try await feed.sync()
        return await feed.items.map(\.document.documentID)
    }

    private func add(
        _ collection: CollectionReference, _ id: String, _ field: String, _ seconds: Int64,
        players: [String] = []
    ) async throws {
        try await collection.document(id).setData([
            field: Timestamp(seconds: seconds, nanoseconds: 0), "players": players,
            "updatedAt": FieldValue.serverTimestamp(),
        ])
    }

    @Test func `are of calls, games, purchases and media`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let ann = firestore.document("users/ann")
        let room = firestore.document("rooms/blue")
        let games = firestore.collection("games")
        for number in 1...2 {
            let seconds = Int64(number)
            try await add(ann.collection("calls"), "c\(number)", "startedAt", seconds)
            try await add(ann.collection("purchases"), "p\(number)", "purchasedAt", seconds)
            try await add(room.collection("media"), "m\(number)", "sharedAt", seconds)
            try await add(games, "g\(number)", "endedAt", seconds, players: ["ann", "bob"])
        }
        try await add(games, "g3", "endedAt", 3, players: ["bob"])
        try await add(firestore.collection("users/bob/calls"), "c3", "startedAt", 3)

        #expect(try await items(.callLog(of: ann)) == ["c2", "c1"])
        #expect(try await items(.purchases(of: ann)) == ["p2", "p1"])
        #expect(try await items(.media(of: room)) == ["m2", "m1"])
        #expect(try await items(.gameHistory(of: "ann", in: games)) == ["g2", "g1"])
        #expect(FeedDefinition.media(of: room).limit == 200)
        await local.stop()
    }

    /// The layout of an older chat app: the user's own copies of chats, and messages elsewhere.
    @Test func `are of a user's own copies of chats, with their clear marks`() async throws {
        try await LocalFirestore.withClient { _, firestore in
            let ann = firestore.document("Users/ann")
            try await add(ann.collection("Chats"), "bob", "lastMessageAt", 2)
            try await add(ann.collection("Chats"), "cleo", "lastMessageAt", 3)
            try await add(firestore.collection("Users/bob/Chats"), "ann", "lastMessageAt", 9)
            let chat = firestore.document("Chats/ann_bob")
            for number in 1...4 {
                try await chat.collection("Messages").document("m\(number)").setData([
                    "message_time_stamp": Timestamp(
                        seconds: 1_600_000_000 + Int64(number), nanoseconds: 0)
                ])
            }
            try await ann.collection("Chats").document("bob")
                .updateData(["fetch_message_after": "1600000001000"])

            let chats = FeedDefinition.ownChats(
                of: firestore.document("Users/ann"), collection: "Chats")
            #expect(try await items(chats) == ["cleo", "bob"])

            var messages = FeedDefinition.conversation(
                firestore.document("Chats/ann_bob"), collection: "Messages",
                sentAt: "message_time_stamp", way: .audit())
            messages.limit = 100
            messages.sharedMark = .ownChat(firestore.document("Users/ann/Chats/bob"))
            #expect(try await items(messages) == ["m4", "m3", "m2"])

            let feed = try Feed(messages)
            try await feed.sync()
            try await feed.clear(through: Timestamp(seconds: 1_600_000_002, nanoseconds: 0))
            try await firestore.waitForPendingWrites()
            let copy = try await ann.collection("Chats").document("bob").getDocument()
            #expect(copy.data()?["fetch_message_after"] as? String == "1600000002000")
            #expect(copy.data()?["conversation_deleted"] as? Bool == true)
            #expect(copy.data()?["last_message_timestamp"] as? String == "1600000002000")
        }
    }

    @Test func `of own chats make a list without counted messages`() async throws {
        try await LocalFirestore.withClient { _, firestore in
            let ann = firestore.document("Users/ann")
            try await add(ann.collection("Chats"), "bob", "lastMessageAt", 2)
            let list = try ConversationList(
                .ownChats(of: ann, collection: "Chats"), user: "ann",
                fields: ConversationFields(unread: .notCounted))
            try await list.refresh()
            let now = Timestamp(seconds: 4_000_000_000, nanoseconds: 0)
            try await ann.collection("Chats").document("cleo").setData([
                "lastMessageAt": now, "updatedAt": FieldValue.serverTimestamp(),
            ])
            try await list.refresh()
            let items = await list.state.items
            #expect(items.map(\.id) == ["cleo", "bob"] && items.map(\.isUnread) == [true, false])
        }
    }
}
