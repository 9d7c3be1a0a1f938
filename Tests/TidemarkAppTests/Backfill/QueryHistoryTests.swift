import Foundation
import Testing
import Tidemark
import TidemarkApp
import TidemarkServer

struct `The history of a query` {
    private static let now: Int64 = 1_700_000_000

    private static func client(_ server: FirestoreServer, _ label: String) throws -> Firestore {
        try Firestore(
            projectID: "p", settings: FirestoreSettings(cache: .memory, label: label),
            environment: .live(server))
    }

    private static func complete(_ backfill: Backfill) async throws -> BackfillProgress {
        let progress = await backfill.progress
        try await backfill.start()
        for await state in progress {
            switch state.phase {
            case .complete, .failed: return state
            case .running, .tryingAgain, .held: continue
            }
        }
        return await backfill.current
    }

    @Test(.timeLimit(.minutes(2)))
    func `comes into the cache, page by page, with equal times across a page's end`() async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let author = try Self.client(server, "author")
        let messages = author.collection("rooms/blue/messages")
        let batch = author.batch()
        for number in 0..<200 {
            // Four messages share each time, so a page of ten ends between equal times.
            let seconds = Self.now - Int64(number / 4) * 86_400 - 60
            batch.setData(
                ["at": Timestamp(seconds: seconds, nanoseconds: 0), "number": number],
                forDocument: messages.document("m\(number)"))
        }
        try await batch.commit()

        let device = try Self.client(server, "device")
        let query = device.collection("rooms/blue/messages")
        let history = try QueryHistory(query, itemTime: "at", name: "blue", pageSize: 10)
        let job = BackfillJob(
            name: "blue",
            from: Timestamp(seconds: Self.now - 100 * 86_400, nanoseconds: 0),
            to: Timestamp(seconds: Self.now, nanoseconds: 0))
        let first = try await Self.complete(
            Backfill([.init(job, from: history, to: history)]))
        #expect(first.phase == .complete)
        #expect(first.samples == 200)
        // The backfill reads each row once, and the empty end of a window costs one read.
        #expect(first.reads <= 200 + job.windowCount)
        let held = try await query.getDocuments(source: .cache)
        #expect(held.count == 200)
        // Covered documents stay in the cache, however small its limit is.
        await withCheckedContinuation { continuation in
            device.engine.collectGarbage(limit: 0, percent: 100) { _ in continuation.resume() }
        }
        let kept = try await query.getDocuments(source: .cache)
        #expect(kept.count == 200)

        let second = try await Self.complete(
            Backfill([.init(job, from: history, to: history)]))
        #expect(second.phase == .complete && second.reads == 0)
        await author.terminate()
        await device.terminate()
    }

    @Test func `refuses a query with an order of its own`() throws {
        let device = try Self.client(
            try FirestoreServer(FirestoreServer.Configuration()), "device")
        let query = device.collection("a")
        #expect(throws: FirestoreError.self) {
            _ = try QueryHistory(query.limit(to: 3), itemTime: "at", name: "a")
        }
        #expect(throws: FirestoreError.self) {
            _ = try QueryHistory(query.order(by: "x"), itemTime: "at", name: "a")
        }
        #expect(throws: FirestoreError.self) {
            _ = try QueryHistory(query, itemTime: "at", name: "a", pageSize: 0)
        }
    }
}
