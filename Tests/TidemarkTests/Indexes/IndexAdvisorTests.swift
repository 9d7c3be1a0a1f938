import Foundation
import Testing
import TidemarkServer
import TidemarkTesting

@testable import Tidemark

@Suite(.timeLimit(.minutes(2))) struct `An index advisor` {
    private func world(
        _ advisor: IndexAdvisor?, _ body: (Firestore) async throws -> Void
    ) async throws {
        let local = try LocalFirestore.start()
        do { try await body(try local.firestore(indexAdvisor: advisor)) } catch {
            await local.stop()
            throw error
        }
        await local.stop()
    }

    private static let room =
        "Collection messages (room ASC, sentAt DESC, __name__ DESC)"

    @Test func `sees reads, listeners and aggregations that go to the server, and no others`()
        async throws
    {
        let advisor = IndexAdvisor()
        try await world(advisor) { firestore in
            let messages = firestore.collection("messages")
            let query = messages.whereField("room", isEqualTo: "blue")
            _ = try await query.order(by: "sentAt", descending: true).getDocuments(source: .server)
            #expect(advisor.required == [Self.room])
            _ = try await query.order(by: "likes").getDocuments(source: .cache)
            #expect(advisor.required == [Self.room], "the cache needs none")
            for try await snapshot in query.order(by: "author").limit(to: 3).snapshots
            where !snapshot.metadata.isFromCache { break }
            _ = try await query.whereField("likes", isGreaterThan: 3).count
                .getAggregation(source: .server)
            _ = try await messages.document("one").getDocument()
        }
        #expect(
            advisor.required.sorted() == [
                "Collection messages (room ASC, author ASC, __name__ ASC)",
                "Collection messages (room ASC, likes ASC, __name__ ASC)", Self.room,
            ])
        #expect(advisor.needs.counts.count == 3)
    }

    @Test func `keeps what earlier runs have written, and nothing of the values`() async throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("needs-\(UUID().uuidString).json").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        for field in ["sentAt", "likes", "likes"] {
            let advisor = IndexAdvisor(file: file)
            try await world(advisor) { firestore in
                _ = try await firestore.collection("messages")
                    .whereField("room", isEqualTo: "s3cret").order(by: field)
                    .getDocuments(source: .server)
            }
            #expect(advisor.fault == nil)
        }
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(!text.contains("s3cret"))
        #expect(IndexAdvisor(file: file).required.count == 2)
    }

    @Test func `does not write over what it did not write`() async throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("notes-\(UUID().uuidString).txt").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        try "my notes".write(toFile: file, atomically: true, encoding: .utf8)
        let advisor = IndexAdvisor(file: file)
        try await world(advisor) { firestore in
            _ = try await firestore.collection("messages").whereField("room", isEqualTo: "blue")
                .order(by: "sentAt").getDocuments(source: .server)
        }
        #expect(advisor.fault != nil && advisor.required.count == 1)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "my notes")
    }
}
