import ArgumentParser
import Foundation
import Tidemark

/// The app that sends messages: what the demo kills.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send messages until it is killed.", shouldDisplay: false)
    /// Of the conversation's document: how often a message was committed.
    static let counter = "committed"
    /// Between two messages, as if somebody typed them very fast.
    private static let pause = Duration.milliseconds(25)

    @Option var side: Side
    @Option(help: "A file of history events.") var texts: String
    @Option(help: "How many were acknowledged to the user before.") var first: Int
    @Option var conversation: String
    @Option(help: "Who is signed in, and writes.") var user: String
    @Option var port: Int
    @Option var label: String
    @Option(help: "The folder of the cache and the queue.") var cache: String

    func run() async throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: texts))
        let messages = try JSONDecoder().decode([HistoryEvent].self, from: data).dropFirst(first)
        let place = DemoPlace(port: port, folder: URL(fileURLWithPath: cache), user: user)
        let firestore = try place.firestore(label: label)
        try await send(Array(messages), firestore)
        await firestore.terminate()
    }

    /// Both sides send by the durable queue, in order, whatever becomes of this process. What differs is
    /// when the person is told that a message is safe: on Tidemark once it is journalled. The app as it
    /// was had a call that returned when the server had the message, and nothing else to tell by.
    private func send(_ messages: [HistoryEvent], _ firestore: Firestore) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for message in messages {
                let start = ContinuousClock.now
                if await isHeld(message, firestore) {
                    say("acknowledged \(message.id)")
                } else {
                    let receipt = try await batch(message, firestore).enqueue()
                    if side == .after { tell(message, since: start) }
                    group.addTask {
                        try await receipt?.acknowledged()
                        say("sent \((ContinuousClock.now - start).milliseconds)")
                        if side == .before { tell(message, since: start) }
                    }
                }
                try await Task.sleep(for: Self.pause)
            }
            try await group.waitForAll()
        }
        try await firestore.waitForPendingWrites()
    }

    private func tell(_ message: HistoryEvent, since start: ContinuousClock.Instant) {
        say("told \((ContinuousClock.now - start).milliseconds)")
        say("acknowledged \(message.id)")
    }

    /// It may have been journalled before the kill, and not told any more.
    private func isHeld(_ message: HistoryEvent, _ firestore: Firestore) async -> Bool {
        (try? await document(message, firestore).getDocument(source: .cache))?.exists == true
    }

    private func batch(_ message: HistoryEvent, _ firestore: Firestore) -> WriteBatch {
        let batch = firestore.batch()
        batch.setData(
            [
                Conversation.idField: conversation,
                Conversation.time: FieldValue.serverTimestamp(),
                ItemFields.author: user, ItemFields.text: message.text,
            ], forDocument: document(message, firestore))
        batch.setData(
            [
                Self.counter: FieldValue.increment(Int64(1)),
                ItemFields.updatedAt: FieldValue.serverTimestamp(),
            ],
            forDocument: firestore.collection(Conversation.conversations.text)
                .document(conversation),
            merge: true)
        return batch
    }

    private func document(_ message: HistoryEvent, _ firestore: Firestore) -> DocumentReference {
        firestore.collection(Conversation.messages.text)
            .document(Self.id(of: message, in: conversation))
    }

    static func id(of message: HistoryEvent, in conversation: String) -> String {
        "\(conversation)-\(message.id)"
    }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

extension Side: ExpressibleByArgument {}
