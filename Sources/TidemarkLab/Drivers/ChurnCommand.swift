import ArgumentParser
import Foundation
import Tidemark
import TidemarkModel

/// Writes, updates and deletes documents while it listens to them, and prints the changes. A test
/// kills this command, and starts it again on the same cache.
///
/// Each write has a number. A document counts its writes and keeps their numbers. If a write was
/// lost, its number is missing; if a write was applied twice, it is counted twice.
struct ChurnCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "churn", abstract: "Write and listen until stopped.",
        shouldDisplay: false)
    private static let counter = "churn-state/counter"

    @Option(help: "The number of the first write.") var first: Int
    @Option(help: "The number of writes; 0 only sends what an earlier run left in the queue.")
    var count: Int
    @Option(help: "Random seed.") var seed: UInt64
    @Option(help: "The folder of the cache and the queue.") var cache: String
    @Option(help: "Share the cache with other processes, as an app or as its helper.")
    var share: CacheShare?
    @OptionGroup var database: DriverDatabase

    func run() async throws {
        let firestore = try database.firestore(
            cache: cache, onBusyCache: share?.policy ?? .fail, label: "churn")
        let documents = firestore.collection("churn")
        for document in try await documents.getDocuments(source: .cache).documents {
            say("cached \(document.documentID) \(contents(document.data()))")
        }
        say("cached all")
        // tidemark:ignore unbounded-listener the tests' collection is small, and all is checked
        let listener = documents.addSnapshotListener { snapshot, error in
            if let error { say("failed \(error)") }
            for change in snapshot?.documentChanges ?? [] {
                let isGone = change.type == .removed
                say(
                    "shown \(change.document.documentID) "
                        + (isGone ? "gone" : contents(change.document.data())))
            }
        }
        // Wait for each write, whichever process sends it.
        for receipt in try await write(firestore, documents) { await receipt.value }
        if !firestore.isReadOnly { try await firestore.waitForPendingWrites() }
        listener.remove()
        await firestore.terminate()
        say("sent all")
    }

    /// - Returns: Tasks that end when the writes are acknowledged.
    private func write(
        _ firestore: Firestore, _ documents: CollectionReference
    ) async throws -> [Task<Void, Never>] {
        var receipts: [Task<Void, Never>] = []
        var dice = SeededRandom(seed: seed)
        var written: [String] = []
        for number in first..<(first + count) {
            let fields: [String: Any] = [
                "times": FieldValue.increment(Int64(1)), "by": FieldValue.arrayUnion([number]),
                "text": String(repeating: "é", count: Int.random(in: 0..<800, using: &dice)),
            ]
            let new = documents.document("d\(number)")
            let receipt: WriteReceipt?
            switch Int.random(in: 0..<10, using: &dice) {
            case 0..<4 where !written.isEmpty:
                let id = written.randomElement(using: &dice)!
                say("begins \(number) update \(id)")
                receipt = try await documents.document(id).enqueueUpdateData(fields)
            case 4 where written.count > 3:
                let id = written.remove(at: Int.random(in: 0..<written.count, using: &dice))
                say("begins \(number) delete \(id)")
                receipt = try await documents.document(id).enqueueDelete()
            case 5, 6:
                say("begins \(number) pair \(new.documentID)")
                let batch = firestore.batch()
                batch.setData(fields, forDocument: new, merge: true)
                batch.setData(
                    ["n": FieldValue.increment(Int64(1))],
                    forDocument: firestore.document(Self.counter), merge: true)
                receipt = try await batch.enqueue()
                written.append(new.documentID)
            default:
                say("begins \(number) set \(new.documentID)")
                receipt = try await new.enqueueSetData(fields, merge: true)
                written.append(new.documentID)
            }
            say("journalled \(number)")
            receipts.append(
                Task {
                    do { try await receipt?.acknowledged() } catch { return }
                    say("acknowledged \(number)")
                })
        }
        return receipts
    }
}

/// Returns the number of writes of a document, and their numbers.
private func contents(_ data: [String: Any]?) -> String {
    let numbers = (data?["by"] as? [Any] ?? []).map { "\($0)" }
    return "\(data?["times"] ?? "never") \(numbers.joined(separator: ","))"
}

/// Prints a line without a buffer, for a reader that reads while the process runs.
private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

/// The role of a process that shares a cache.
enum CacheShare: String, ExpressibleByArgument {
    case app, helper

    var policy: FirestoreSettings.BusyCache { .shared(self == .app ? .app : .helper) }
}
