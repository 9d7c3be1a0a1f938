public import ExampleKit
import Tidemark

extension Example {
    public static let messages = Example(
        name: "messages", title: "Messages",
        problem: "Careful pages of 50, and beside them a listener without a limit: every open of a "
            + "conversation read all of it. A send waited for the server, and said nothing meanwhile.",
        promise: "The newest page is live, older ones come from disk. A message is safe before the "
            + "call returns, and is sent once, whatever happens to the app.",
        before: MessagesBefore.self, after: MessagesAfter.self,
        seed: { try await MessagesProject($0).seed() },
        others: { try await MessagesProject($0).act($1) },
        secondDevice: [
            StoryAction("write", "Write a message") {
                try await MessagesProject($0).write("From my tablet")
            }
        ],
        truth: { try await MessagesProject($0).conversations() },
        story: [
            StoryScene(
                "The first launch. Both phones hold nothing, and the network is good.",
                [.network(.healthy), .launch], seconds: 6, until: .fresh),
            StoryScene(
                "A conversation of 400 messages. The old app listens to all of them, and reads its "
                    + "pages beside that; here it is the newest 50.",
                [.tap("blue")], seconds: 8, until: .fresh),
            StoryScene("One page further back.", [.tap("older")], seconds: 5),
            StoryScene("Others write, and one message is edited.", [.others(6)], seconds: 5),
            StoryScene(
                "Airplane mode. A message is written: one phone says that it waits, the other one "
                    + "waits itself.",
                [.airplane(true), .tap("send", text: "On my way")], seconds: 6),
            StoryScene(
                "The app is killed, and launched without a network.", [.kill, .launch], seconds: 5),
            StoryScene("The conversation, from disk.", [.tap("blue")], seconds: 5),
            StoryScene(
                "The network is back: the message arrives, once.", [.airplane(false)], seconds: 8,
                until: .fresh),
            StoryScene(
                "3G. The list of conversations, as it is on the server.",
                [.network(.threeG), .others(3), .tap("back")], seconds: 10, until: .fresh),
        ])
}

/// The server's data and the other users of the story.
struct MessagesProject {
    static let friends = ["Grace", "Edsger", "Barbara", "Alan", "Katherine"]
    /// The number of messages in the conversation that the story opens.
    static let count = 400

    let firestore: Firestore
    private let me: String
    private let start: Timestamp

    init(_ project: PhoneProject) {
        firestore = project.firestore
        me = project.user.id
        start = project.dayStart
    }

    private var blue: DocumentReference { firestore.document("conversations/blue") }

    func seed() async throws {
        for (number, friend) in Self.friends.enumerated() {
            let id = number == 0 ? "blue" : friend.lowercased()
            let count = number == 0 ? Self.count : 3 + number
            try await seed(
                id, of: friend, count: count, until: start.advanced(by: .seconds(-600 * number)))
        }
    }

    private func seed(
        _ id: String, of friend: String, count: Int, until end: Timestamp
    ) async throws {
        let document = firestore.collection("conversations").document(id)
        let batch = firestore.batch()
        var last = Message(in: id, author: friend, text: "Hello", timestamp: end)
        for number in 0..<count {
            last = Message(
                in: id, author: number.isMultiple(of: 3) ? me : friend,
                text: "\(friend)’s line \(number + 1)",
                timestamp: end.advanced(by: .seconds(-90 * (count - 1 - number))))
            // The server's time of an old message is its send time.
            last.updatedAt = last.timestamp
            let name = id == blue.documentID ? "m\(number)" : "\(id)-\(number)"
            // tidemark:ignore batch-without-bound a conversation of the story has fewer than 500
            try batch.setData(from: last, forDocument: firestore.messages.document(name))
        }
        var conversation = Conversation(
            members: [me, friend.lowercased()], title: friend, lastText: last.text)
        conversation.lastMessageAt = last.timestamp
        try batch.setData(from: conversation, forDocument: document)
        try await batch.commit()
    }

    /// Makes one act of another user. Every fourth act edits an old message, every tenth deletes
    /// one, and the others write.
    func act(_ number: Int) async throws {
        let old = firestore.messages.document("m\((number * 7) % Self.count)")
        if number % 10 == 9 {
            return try await old.updateData([
                "deletedAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ])
        }
        if number % 4 == 3 {
            return try await old.updateData([
                "text": "Edited \(number)", "updatedAt": FieldValue.serverTimestamp(),
            ])
        }
        try await write("News \(number)", by: Self.friends[0], id: "n\(number)")
    }

    func write(_ text: String, by author: String? = nil, id: String? = nil) async throws {
        let messages = firestore.messages
        // Reads the current time on the server's clock, because other users' clocks are correct.
        let now = try await firestore.document("project/clock").getDocument(source: .server)
            .readTime
        let batch = firestore.batch()
        try batch.setData(
            from: Message(
                in: blue.documentID, author: author ?? me, text: text, timestamp: now ?? start),
            forDocument: id.map { messages.document($0) } ?? messages.document())
        batch.updateData(
            [
                "lastText": text, "lastMessageAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ], forDocument: blue)
        try await batch.commit()
    }

    /// Returns the first screen by a full read, the latest first.
    func conversations() async throws -> [String] {
        try await firestore.collection("conversations")
            .whereField("members", arrayContains: me)
            .order(by: "lastMessageAt", descending: true)
            .getDocuments(source: .server).documents.map(\.documentID)
    }

    /// Returns the existing messages of a conversation, oldest first.
    func messages(of id: String) async throws -> [String] {
        try await firestore.document("conversations/\(id)").messages.order(by: "timestamp")
            .getDocuments(source: .server).documents
            .filter { $0["deletedAt"] == nil }.map(\.documentID)
    }
}
