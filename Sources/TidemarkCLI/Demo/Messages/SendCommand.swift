import ArgumentParser
import Foundation
import Tidemark
import TidemarkModel
import TidemarkWire

/// The app that sends messages: what the demo kills.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send messages until it is killed.", shouldDisplay: false)
    /// Of the document above the messages: how often one was committed.
    static let counter = "committed"
    /// Between two messages, as if somebody typed them very fast.
    private static let pause = Duration.milliseconds(25)

    @Option var side: Side
    @Option(help: "A file of history events.") var texts: String
    @Option(help: "How many were acknowledged to the user before.") var first: Int
    @Option var collection: String
    @Option var port: Int
    @Option var label: String
    @Option(help: "The folder of the cache and the queue.") var cache: String

    func run() async throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: texts))
        let messages = try JSONDecoder().decode([HistoryEvent].self, from: data).dropFirst(first)
        switch side {
        case .before: try await sendFromMemory(Array(messages))
        case .after:
            let place = DemoPlace(port: port, folder: URL(fileURLWithPath: cache))
            let firestore = try place.firestore(label: label)
            try await sendFromQueue(Array(messages), firestore)
            await firestore.terminate()
        }
    }

    /// Acknowledged once it is journalled; sent in order, whatever becomes of this process.
    private func sendFromQueue(_ messages: [HistoryEvent], _ firestore: Firestore) async throws {
        var journalled: [Duration] = []
        var sent: [Duration] = []
        for message in messages {
            let start = ContinuousClock.now
            let document = firestore.collection(collection).document(message.id)
            // It may have been journalled before the kill, and not told any more.
            let held = try? await document.getDocument(source: .cache)
            if held?.exists != true {
                let receipt = try await batch(message, firestore).enqueue()
                journalled.append(.now - start)
                say("acknowledged \(message.id)")
                // After the kill nobody types: how long each takes, is what is of interest.
                if first > 0 {
                    try await receipt?.acknowledged()
                    sent.append(.now - start)
                }
            } else {
                say("acknowledged \(message.id)")
            }
            try await Task.sleep(for: Self.pause)
        }
        try await firestore.waitForPendingWrites()
        say("sent \(sent.median?.milliseconds ?? 0)")
        say("journalled \(journalled.median?.milliseconds ?? 0)")
    }

    /// The app as it was: acknowledged at once, kept in memory, sent one after the other, and tried
    /// again under the same id for as long as the app runs.
    private func sendFromMemory(_ messages: [HistoryEvent]) async throws {
        let (queue, input) = AsyncStream.makeStream(
            of: (HistoryEvent, ContinuousClock.Instant).self)
        let sending = Task {
            var sent: [Duration] = []
            for await (message, start) in queue {
                while !(await commit(message)) { try await Task.sleep(for: .milliseconds(500)) }
                sent.append(.now - start)
            }
            return sent
        }
        for message in messages {
            input.yield((message, .now))
            say("acknowledged \(message.id)")
            try await Task.sleep(for: Self.pause)
        }
        input.finish()
        say("sent \(try await sending.value.median?.milliseconds ?? 0)")
    }

    private func commit(_ message: HistoryEvent) async -> Bool {
        let messages = CollectionPath(unchecked: collection)
        guard let counter = messages.parent, let context = try? DemoPlace.context(label) else {
            return false
        }
        let count = FieldTransform(
            FieldPath(name: Self.counter), .increment(.integer(1)))
        let mutations = [
            HistoryScript.insert(message, messages),
            Mutation(path: counter, .patch([:], mask: []), transforms: [count]),
        ]
        let transport = GRPCTransport(.init(host: "127.0.0.1", port: port, usesTLS: false))
        let isCommitted = (try? await transport.commit(mutations, context)) != nil
        await transport.close()
        return isCommitted
    }

    private func batch(_ message: HistoryEvent, _ firestore: Firestore) -> WriteBatch {
        let messages = firestore.collection(collection)
        let batch = firestore.batch()
        batch.setData(
            [ItemFields.author: message.author, ItemFields.text: message.text],
            forDocument: messages.document(message.id))
        if let counter = messages.parent {
            batch.setData(
                [Self.counter: FieldValue.increment(Int64(1))], forDocument: counter, merge: true)
        }
        return batch
    }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

extension Side: ExpressibleByArgument {}
