import Foundation
import Testing
import TidemarkServer

@testable import Tidemark

@Suite(.timeLimit(.minutes(2))) struct `A download` {
    @Test func `puts all rows into the cache, and forgets those that are gone`() async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let writer = try Firestore.testing(server)
        let rooms = writer.collection("rooms")
        for start in stride(from: 0, to: 1_000, by: 250) {
            let batch = writer.batch()
            for number in start..<(start + 250) {
                batch.setData(["n": number], forDocument: rooms.document("\(number)"))
            }
            try await batch.commit()
        }
        let firestore = try Firestore.testing(server, label: "reader")
        let query = firestore.collection("rooms").whereField("n", isGreaterThanOrEqualTo: 100)
        let first = try await query.download()
        #expect(first.count == 900 && first.isOfOneTime)
        let cached = try await query.getDocuments(source: .cache)
        #expect(cached.documents.map { $0["n"] as? Int } == Array(100..<1_000))
        #expect(try await query.count.getAggregation(source: .cache).count == 900)

        for number in 500..<510 { try await rooms.document("\(number)").delete() }
        #expect(try await query.download().count == 890)
        #expect(try await query.getDocuments(source: .cache).count == 890)
        // A small result uses the same code, with a single part.
        let few = firestore.collection("rooms").whereField("n", isLessThan: 7)
        #expect(try await few.download().count == 7)
        #expect(try await few.getDocuments(source: .cache).count == 7)
        await writer.terminate()
        await firestore.terminate()
        server.close()
    }
}
