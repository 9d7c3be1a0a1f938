import Foundation
import Tidemark
import TidemarkModel
import TidemarkTestKit

/// Measures the take-over of FirebaseFirestore's cache, each time in a separate process. The
/// store is made by the writer of the tests.
struct TakeOverSuite {
    let count: Int
    /// The size of each document's text.
    let documentBytes: Int
    let folder: URL
    let only: [String]
    let report: Report

    static let bars = [Bar.takenContent, .takenAll, .takenMemory]
    /// The number of rows on the first screen.
    static let screen = 50
    private static let rowsPerResult = 500
    private static let openings = 20

    /// - Returns: True if all bars hold.
    func run() throws -> Bool {
        let store = folder.appending(path: "old")
        try makeStore(store)
        let size = Int(FileManager.default.megabytes(in: store))
        report.begin(
            "takeover", "\(count) documents in a store of \(size) MB", yardstick: "bar")
        var first: [Double] = []
        var whole: [String: Double] = [:]
        for number in 0..<Self.openings {
            // Only the last process takes everything.
            let isWhole = number == Self.openings - 1
            let samples = try BenchmarkChild.samples(
                [
                    "takeover", "--count", String(count), "--store", store.path,
                    "--client-folder", folder.appending(path: "new-\(number)").path,
                ] + (isWhole ? ["--whole"] : []))
            for sample in samples { whole[sample.step] = sample.value }
            first.append(whole["first"] ?? .infinity)
        }
        guard let taken = whole["documents"], Int(taken) == count else {
            throw BenchmarkChildError(arguments: ["takeover", "documents: \(whole)"])
        }
        let slowest = String(format: "%.1f", first.max() ?? 0)
        let detail = "the slowest of \(first.count) processes \(slowest) ms"
        var allHold = add(.takenContent, first.median, detail: detail)
        allHold =
            add(.takenAll, whole["whole"] ?? .infinity, detail: "\(count) documents") && allHold
        return add(.takenMemory, whole["memory"] ?? .infinity, detail: "with the first screen")
            && allHold
    }

    private func add(_ bar: Bar, _ figure: Double, detail: String) -> Bool {
        guard only.isEmpty || only.contains(where: bar.name.hasPrefix) else { return true }
        report.add(bar, figure, detail: detail)
        return bar.holds(figure)
    }

    // MARK: The old store

    /// Makes a store with the layout of long use: results of 500 rows in tables, and in the log
    /// the result of the first screen, which was written last.
    private func makeStore(_ store: URL) throws {
        var phone = try OldPhone(store, project: "bench")
        phone.leaveTrace(of: "ada")
        let (root, time) = (phone.root, Timestamp(seconds: 1_700_000_000, nanoseconds: 0))
        let results = stride(from: 0, to: count, by: Self.rowsPerResult).map { start in
            let room = "rooms/r" + Self.padded(start)
            return OldPhone.SettledResult(
                query: TestMessage.query("messages"), parent: "\(root)/\(room)",
                rows: (start..<min(start + Self.rowsPerResult, count)).map {
                    "\(room)/messages/\(Self.padded($0))"
                }, token: Array("token \(start)".utf8))
        }
        try phone.putSettled(results, version: time) { document($0, below: root, at: time) }
        phone.put(
            target: TestMessage.query(
                "messages", orders: [("n", true), ("__name__", true)], limit: Int64(Self.screen)),
            parent: results[0].parent, rows: results[0].rows.suffix(Self.screen),
            version: time, token: Array("screen".utf8))
        try phone.finish()
    }

    private static func padded(_ number: Int) -> String { String(format: "%07d", number) }

    /// Returns a message with a text of `documentBytes`.
    private func document(_ path: String, below root: String, at time: Timestamp) -> [UInt8] {
        let number = Int64(path.suffix(7)) ?? 0
        let word = "message \(number) "
        return TestMessage.document(
            root + "/" + path,
            fields: [
                ("author", .string("user-\(number % 40)")), ("n", .integer(number)),
                ("sentAt", .timestamp(time)),
                ("text", .string(String(repeating: word, count: documentBytes / word.count + 1))),
            ], updateTime: time)
    }

    // MARK: The process of one opening

    /// Opens the app's own cache offline and takes over the old one.
    static func open(_ store: URL, _ folder: URL, isWhole: Bool) async throws {
        let firestore = try Firestore(
            projectID: "bench",
            settings: FirestoreSettings(
                cache: .directory(folder.path), user: "ada", cacheSizeBytes: nil))
        await firestore.disableNetwork()
        let screen = firestore.collection("rooms/r0000000/messages")
            .order(by: "n", descending: true).limit(to: Self.screen)
        let start = ContinuousClock.now
        let takeOver = try await firestore.takeOver(store, user: "ada", first: [screen])
        let rows = try await screen.getDocuments(source: .cache).documents
        let first = ContinuousClock.now - start
        precondition(rows.count == Self.screen)
        var samples = [ClientSample("first", first / .milliseconds(1))]
        if isWhole {
            let outcome = try await takeOver.outcome()
            samples.append(ClientSample("whole", (ContinuousClock.now - start) / .seconds(1)))
            samples.append(ClientSample("documents", Double(outcome.documents)))
            samples.append(ClientSample("memory", OwnMemory.peakMegabytes ?? .infinity))
        } else {
            takeOver.cancel()
        }
        try BenchmarkChild.report(samples)
        await firestore.terminate()
    }
}
