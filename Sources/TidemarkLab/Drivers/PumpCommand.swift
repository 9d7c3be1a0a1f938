import ArgumentParser
import Foundation
import Tidemark

/// Writes numbered documents through the durable queue, counts them in the same batches, and prints
/// its progress. The crash tests kill this command.
struct PumpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pump", abstract: "Write numbered documents until stopped.",
        shouldDisplay: false)

    @Argument(help: "The collection.")
    var collection: String

    @Option(help: "The number of documents; 0 only sends what an earlier run left in the queue.")
    var count: Int

    @Option(help: "The folder of the cache and the queue.")
    var cache: String

    @OptionGroup var database: DriverDatabase

    func run() async throws {
        let firestore = try database.firestore(cache: cache, label: "pump")
        let documents = firestore.collection(collection)
        let counter = firestore.document("\(collection)-state/counter")
        for number in 0..<count {
            let batch = firestore.batch()
            batch.setData(["number": number], forDocument: documents.document("n\(number)"))
            batch.setData(
                ["n": FieldValue.increment(Int64(1))], forDocument: counter, merge: true)
            _ = try await batch.enqueue()
            FileHandle.standardOutput.write(Data("journalled \(number)\n".utf8))
        }
        try await firestore.waitForPendingWrites()
        await firestore.terminate()
    }
}
