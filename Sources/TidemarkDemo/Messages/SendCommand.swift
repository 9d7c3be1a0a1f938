import ArgumentParser
import Foundation
import MessagesCore
import Tidemark

/// The app that sends messages, which the demo kills.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send messages until killed.", shouldDisplay: false)
    /// The pause between two messages, as if a user typed very fast.
    private static let pause = Duration.milliseconds(25)

    @Option var side: Side
    @Option(help: "A file of events.") var texts: String
    @Option(help: "Number of messages that were acknowledged before.") var first: Int
    @Option var conversation: String
    @Option(help: "The current time, in seconds since 1970.") var now: Int64
    @OptionGroup var place: PlaceOptions

    func run() async throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: texts))
        let messages = try JSONDecoder().decode([HistoryEvent].self, from: data).dropFirst(first)
        let client = try await DeviceClient(side, place.place, label: place.label)
        try await send(Array(messages), await app(client.firestore))
        await client.close()
    }

    @MainActor private func app(_ firestore: Firestore) -> MessagesApp {
        var app = MessagesApp(firestore, me: place.user)
        let (start, now) = (ContinuousClock.now, Timestamp(seconds: now, nanoseconds: 0))
        app.now = { now.advanced(by: .now - start) }
        return app
    }

    /// Sends the messages. Both sides use the durable queue, in order, which survives this process.
    /// They differ in the time at which the user learns that a message is safe: on Tidemark after
    /// the message is in the journal, in the app as it was only after the server had the message.
    private func send(_ messages: [HistoryEvent], _ app: MessagesApp) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for message in messages {
                let start = ContinuousClock.now
                // A user does not type a message again that the app shows.
                if try await isHeld(message, app.firestore) {
                    say("acknowledged \(message.id)")
                    continue
                }
                let receipt = try await enqueue(message, app)
                say("journalled \(message.id)")
                if side == .after { notify(message, since: start) }
                group.addTask {
                    try await receipt?.acknowledged()
                    say("sent \((ContinuousClock.now - start).milliseconds)")
                    if side == .before { notify(message, since: start) }
                }
                try await Task.sleep(for: Self.pause)
            }
            try await group.waitForAll()
        }
        try await app.firestore.waitForPendingWrites()
    }

    private func notify(_ message: HistoryEvent, since start: ContinuousClock.Instant) {
        say("told \((ContinuousClock.now - start).milliseconds)")
        say("acknowledged \(message.id)")
    }

    /// Returns true if the device already has the message: it may be in the journal since before
    /// the kill although the user was not informed.
    private func isHeld(_ message: HistoryEvent, _ firestore: Firestore) async throws -> Bool {
        let held = firestore.collection(Conversation.messages.text)
            .whereField(Conversation.idField, isEqualTo: conversation)
            .whereField(ItemFields.text, isEqualTo: message.text).limit(to: 1)
        return try await !held.getDocuments(source: .cache).isEmpty
    }

    private func enqueue(
        _ message: HistoryEvent, _ app: MessagesApp
    ) async throws -> WriteReceipt? {
        switch side {
        case .before, .filtered: try await batch(message, app.firestore).enqueue()
        case .after: try await app.reply(message.text, in: conversation)
        }
    }

    private func batch(_ message: HistoryEvent, _ firestore: Firestore) -> WriteBatch {
        let batch = firestore.batch()
        batch.setData(
            [
                Conversation.idField: conversation,
                Conversation.timestamp: FieldValue.serverTimestamp(),
                ItemFields.updatedAt: FieldValue.serverTimestamp(),
                ItemFields.author: place.user, ItemFields.text: message.text,
            ],
            forDocument: firestore.collection(Conversation.messages.text)
                .document("\(conversation)-\(message.id)"))
        batch.updateData(
            [
                "lastText": message.text,
                Conversation.lastMessageAt: FieldValue.serverTimestamp(),
                ItemFields.updatedAt: FieldValue.serverTimestamp(),
            ],
            forDocument: firestore.collection(Conversation.conversations.text)
                .document(conversation))
        return batch
    }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

extension Side: ExpressibleByArgument {}
