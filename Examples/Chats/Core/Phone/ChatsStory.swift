public import ExampleKit
import Tidemark
import TidemarkApp

extension Example {
    public static let chats: Example = {
        var chats = chatsWithoutPhotos
        chats.hasPhotos = true
        chats.otherPhone = OtherPhone(photoControl: "photo") { GracePhone($0).views }
        return chats
    }()

    private static let chatsWithoutPhotos = Example(
        name: "chats", title: "Chats",
        problem:
            "Each screen attached a listener to a whole collection: opening a chat of 1,000 with "
            + "50 new messages read 1,000, every time.",
        promise:
            "Each list is a feed: it opens from disk, and reads what changed since the last time. "
            + "What was cleared is never read again.",
        before: ChatsBefore.self, after: ChatsAfter.self,
        seed: { try await ChatsProject($0).seed() },
        others: { try await ChatsProject($0).act($1) },
        secondDevice: [
            StoryAction("clear", "Clear the chat with Grace") {
                try await ChatsProject($0).clear()
            },
            StoryAction("read", "Read the chat with Alan") {
                try await ChatsProject($0).see("alan")
            },
        ],
        truth: { try await ChatsProject($0).chats() },
        story: [
            StoryScene(
                "The day begins with what both phones hold. People write meanwhile.",
                [.network(.healthy), .others(5), .launch], seconds: 6, until: .fresh),
            StoryScene(
                "A chat of 300 messages is opened: all of them are read again, or what is new.",
                [.tap("grace")], seconds: 8, until: .content),
            StoryScene(
                "It is cleared, and opened again.", [.tap("clear"), .tap("back"), .tap("grace")],
                seconds: 6),
            StoryScene("Others go on writing.", [.others(4)], seconds: 5),
            StoryScene(
                "Notifications: 200 of them, and then none.", [.tap("back"), .tap("notices")],
                seconds: 6, until: .content),
            StoryScene("Cleared.", [.tap("clear"), .tap("back")], seconds: 4),
            StoryScene(
                "A week later, both apps are opened anew.",
                [.kill, .turnClock(604_800), .launch], seconds: 5, until: .content),
            StoryScene(
                "The same chat: all of it again, or what is new.", [.tap("grace")], seconds: 6,
                until: .content),
            StoryScene(
                "And the notifications.", [.tap("back"), .tap("notices")], seconds: 6,
                until: .content),
            StoryScene(
                "3G, and a second device reads a chat: its badge goes here too.",
                [.tap("back"), .network(.threeG), .secondDevice("read")], seconds: 8),
            StoryScene(
                "Without a network, a photo is sent to Grace. Both apps show it at once.",
                [.airplane(true), .tap("grace"), .tap("photo", text: "Look!")], seconds: 6),
            StoryScene(
                """
                Both apps are killed before it is sent, and opened again. One held the photo in \
                memory.
                """, [.kill, .launch, .tap("grace")], seconds: 6, until: .content),
            StoryScene(
                "The other had it on disk: with a network, it arrives on Grace’s phone.",
                [.airplane(false)], seconds: 18, until: .sent),
            StoryScene(
                "Others write once more.", [.tap("back"), .others(3)], seconds: 8, until: .fresh),
        ])
}

/// The server's data and the other users of the story.
struct ChatsProject {
    static let friends = ["Grace", "Alan", "Barbara", "Edsger", "Katherine", "Niklaus"]
    static let messages = 300
    static let notices = 200

    let firestore: Firestore
    private let me: String
    private let start: Timestamp

    init(_ project: PhoneProject) {
        firestore = project.firestore
        me = project.user.id
        start = project.dayStart
    }

    private var user: DocumentReference { firestore.document("users/\(me)") }

    func seed() async throws {
        for (number, friend) in Self.friends.enumerated() {
            let count = number == 0 ? Self.messages : 4
            let end = start.advanced(by: .seconds(-3_600 - 900 * number))
            try await seed(friend, count, until: end)
        }
        let batch = firestore.batch()
        for number in 0..<Self.notices {
            var notice = Notice(text: "Notification \(number + 1)")
            notice.createdAt = start.advanced(by: .seconds(-600 - 60 * (Self.notices - number)))
            notice.updatedAt = notice.createdAt
            try batch.setData(
                from: notice, forDocument: user.collection("notifications").document("n\(number)"))
        }
        let seen = Seen(
            chats: Dictionary(
                uniqueKeysWithValues: Self.friends.enumerated().map { number, friend in
                    (friend.lowercased(), number == 0 ? Self.messages : 4)
                }))
        try batch.setData(from: seen, forDocument: user.collection("state").document("seen"))
        let yesterday = start.advanced(by: .seconds(-86_400))
        batch.setData(
            ["blockedAt": yesterday, "updatedAt": yesterday],
            forDocument: user.collection("blocked").document("mallory"))
        for name in Self.friends + ["Mallory", "Malcolm", "Ada"] {
            try batch.setData(
                from: Person(name: name),
                forDocument: firestore.document("users/\(name.lowercased())"))
        }
        try await batch.commit()
    }

    private func seed(_ friend: String, _ count: Int, until end: Timestamp) async throws {
        let document = firestore.collection("chats").document(friend.lowercased())
        let batch = firestore.batch()
        for number in 0..<count {
            var message = ChatMessage(
                author: number.isMultiple(of: 2) ? friend : me,
                text: "\(friend)’s line \(number + 1)",
                sentAt: end.advanced(by: .seconds(-60 * (count - 1 - number))))
            // The server's time of an old message is its send time.
            message.updatedAt = message.sentAt
            // tidemark:ignore batch-without-bound a chat of the story has 300 at the most
            try batch.setData(
                from: message, forDocument: document.collection("messages").document("m\(number)"))
        }
        var chat = Chat(
            members: [me, friend.lowercased()], title: friend,
            lastText: "\(friend)’s line \(count)")
        chat.messageCount = count
        (chat.lastMessageAt, chat.updatedAt) = (end, end)
        try batch.setData(from: chat, forDocument: document)
        try await batch.commit()
    }

    /// Makes one act of another user. Every third act writes to the chat with Grace; every fifth
    /// edits an old message.
    func act(_ number: Int) async throws {
        let friend = Self.friends[number.isMultiple(of: 3) ? 0 : 1 + number % 5]
        if number % 5 == 4 {
            return try await firestore.document("chats/grace/messages/m\(number % Self.messages)")
                .updateData([
                    "text": "Edited \(number)", "updatedAt": FieldValue.serverTimestamp(),
                ])
        }
        try await write("News \(number)", by: friend, id: "x\(number)")
        try await notify("\(friend) wrote", id: "y\(number)")
    }

    func write(_ text: String, by friend: String, id: String) async throws {
        let chat = firestore.collection("chats").document(friend.lowercased())
        // Reads the current time on the server's clock.
        let now = try await firestore.document("project/clock").getDocument(source: .server)
            .readTime
        let batch = firestore.batch()
        try batch.setData(
            from: ChatMessage(author: friend, text: text, sentAt: now ?? start),
            forDocument: chat.collection("messages").document(id))
        batch.updateData(
            [
                "lastText": text, "messageCount": FieldValue.increment(Int64(1)),
                "lastMessageAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ], forDocument: chat)
        try await batch.commit()
    }

    func notify(_ text: String, id: String) async throws {
        try await user.collection("notifications").document(id).setData(from: Notice(text: text))
    }

    /// Clears the chat with Grace on the user's other device, which shares the feed's clear mark.
    func clear() async throws {
        let app = ChatsApp(firestore, me: me)
        let feed = try Feed(app.messages(of: "grace"))
        try await feed.sync()
        try await feed.clear()
        try await firestore.waitForPendingWrites()
    }

    func see(_ id: String) async throws {
        let chat = try await firestore.document("chats/\(id)").getDocument(as: Chat.self)
        try await user.collection("state").document("seen")
            .setData(["chats": [id: chat.messageCount]], merge: true)
    }

    /// Returns the first screen by a full read, the latest first.
    func chats() async throws -> [String] {
        try await firestore.collection("chats").whereField("members", arrayContains: me)
            .order(by: "lastMessageAt", descending: true)
            .getDocuments(source: .server).documents
            .filter { $0["deletedAt"] == nil }.map(\.documentID)
    }

    func messages(of id: String) async throws -> [String] {
        try await firestore.collection("chats/\(id)/messages").order(by: "sentAt")
            .getDocuments(source: .server).documents
            .filter { $0["deletedAt"] == nil }.map(\.documentID)
    }
}
