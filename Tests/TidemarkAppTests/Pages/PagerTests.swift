import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

@Suite(.timeLimit(.minutes(2))) struct `A pager` {
    /// Makes the messages 1 to `count` of a conversation, and a device that reads them.
    private func world(
        _ count: Int,
        _ body: (LocalFirestore, CollectionReference, CollectionReference) async throws
            -> Void
    ) async throws {
        let local = try LocalFirestore.start()
        let writer = try local.firestore(label: "writer").collection("rooms/blue/messages")
        let reader = try local.firestore(label: "reader").collection("rooms/blue/messages")
        for start in stride(from: 1, through: count, by: 400) {
            let batch = writer.firestore.batch()
            for number in start...min(count, start + 399) {
                batch.setData(["sentAt": number], forDocument: writer.document("m\(number)"))
            }
            try await batch.commit()
        }
        do { try await body(local, writer, reader) } catch {
            await local.stop()
            throw error
        }
        await local.stop()
    }

    /// Returns the rows of the first state for which `isRight` is true.
    private func wait(
        _ pager: Pager, _ isRight: (PagerState) -> Bool
    ) async -> [Int] {
        for await state in pager.states where isRight(state) {
            return state.items.compactMap { $0["sentAt"] as? Int }
        }
        return []
    }

    @Test func `pages to the end at a read a row, and stays live`() async throws {
        try await world(120) { local, writer, reader in
            let pager = try Pager(reader, orderedBy: "sentAt")
            #expect(await wait(pager) { !$0.isLoadingMore } == Array((71...120).reversed()))
            // Listeners are called on the main actor, so no page can arrive between the calls.
            await MainActor.run {
                pager.loadMore()
                pager.loadMore()
            }
            #expect(
                await wait(pager) { $0.items.count > 50 && !$0.isLoadingMore }
                    == Array((21...120).reversed()))
            #expect(local.meter().first { $0.label == "reader" }?.reads == 100)
            pager.loadMore()
            #expect(await wait(pager) { !$0.hasMore } == Array((1...120).reversed()))
            #expect(local.meter().first { $0.label == "reader" }?.reads == 120)
            try await writer.document("m121").setData(["sentAt": 121])
            try await writer.document("m100").delete()
            try await writer.document("m30").updateData(["sentAt": 200])
            let right = [200, 121] + (1...120).reversed().filter { $0 != 100 && $0 != 30 }
            #expect(
                await wait(pager) { $0.items.count == 120 && $0.items[0].documentID == "m30" }
                    == right)
            pager.close()
        }
    }

    @Test func `of an empty collection ends at once, and begins with its first row`() async throws {
        try await world(0) { _, writer, reader in
            let pager = try Pager(reader, orderedBy: "sentAt")
            #expect(await wait(pager) { !$0.isLoadingMore && !$0.hasMore } == [])
            try await writer.document("m1").setData(["sentAt": 1])
            #expect(await wait(pager) { !$0.items.isEmpty } == [1])
        }
    }

    @Test func `is bound to by a view`() async throws {
        try await world(60) { _, _, reader in
            let pager = try Pager(reader, orderedBy: "sentAt")
            let model = await PagerModel(pager)
            _ = await wait(pager) { !$0.isLoadingMore }
            try await until("50 items are there") { await model.items.count >= 50 }
            #expect(await model.items.first?["sentAt"] as? Int == 11, "oldest first")
            await model.loadMore()
            try await until("60 items are there") { await model.items.count >= 60 }
            #expect(await model.hasMore == false)
        }
    }

    /// The reader of the states may miss the last confirmed state.
    @Test func `knows as of when its rows were confirmed, also offline`() async throws {
        try await world(3) { local, _, reader in
            let pager = try Pager(reader, orderedBy: "sentAt")
            #expect(pager.current.confirmed == nil)
            let asked = local.now
            pager.start()
            try await until("the server confirms the rows") { !pager.current.isFromCache }
            await reader.firestore.disableNetwork()
            local.advance(by: .seconds(60))
            try await until("the rows are the device's") { pager.current.isFromCache }
            let confirmed = try #require(pager.current.confirmed)
            #expect(confirmed >= asked && confirmed < local.now)
            pager.close()
        }
    }

    @Test func `refuses what it cannot page`() async throws {
        try await world(0) { _, _, reader in
            #expect(throws: FirestoreError.self) {
                try Pager(reader.limit(to: 3), orderedBy: "sentAt")
            }
            #expect(throws: FirestoreError.self) {
                try Pager(reader, orderedBy: "sentAt", pageSize: 0)
            }
        }
    }
}
