import Testing
import Tidemark
import TidemarkServer
import TidemarkTesting

/// Tests the call of a pipeline: its cost, its time and its errors.
@Suite(.timeLimit(.minutes(2))) struct `Pipelines on the server` {
    private func fill(_ local: LocalFirestore) async throws {
        let writer = try local.firestore(label: "writer")
        for n in 1...5 {
            try await writer.document("rooms/r\(n)").setData(["n": n, "tags": ["a", "b"]])
        }
    }

    @Test func `are counted by what their rows show`() async throws {
        let local = try LocalFirestore.startEnterprise()
        try await fill(local)
        let reader = try local.firestore(label: "reader")
        let all = reader.pipeline().collection("rooms")
        var reads = 0
        for (pipeline, count) in [
            (all, 5), (all.limit(2), 2), (all.where(Field("n").equal(9)), 1),
            (all.aggregate([CountAll().as("n")]), 1),
            // Two rows of each document cost one read.
            (all.unnest(Field("tags").as("tag")), 5),
        ] {
            _ = try await pipeline.counted(screen: "Rooms").execute()
            reads += count
            #expect(try await reader.readMeter.report().reads == reads)
        }
        #expect(try await reader.readMeter.report().byCause == [.get: reads])
        // The server counts what it has read, which rows do not show.
        let billed = try #require(local.meter().first { $0.label == "reader" })
        #expect(billed.reads >= reads)
        await local.stop()
    }

    @Test func `fail without a network, and within their budget`() async throws {
        let local = try LocalFirestore.startEnterprise()
        let reader = try local.firestore(
            readBudgets: [ReadBudget(.all, readsPerDay: 0, .refuse)])
        let refused = await #expect(throws: FirestoreError.self) {
            try await reader.pipeline().collection("rooms").execute()
        }
        #expect(refused?.readBudget?.readsPerDay == 0)
        let other = try local.firestore()
        await other.disableNetwork()
        let offline = await #expect(throws: FirestoreError.self) {
            try await other.pipeline().collection("rooms").execute(within: .seconds(1))
        }
        #expect(offline?.code == .unavailable)
        await local.stop()
    }

    @Test func `change documents once`() async throws {
        let local = try LocalFirestore.startEnterprise()
        try await fill(local)
        let firestore = try local.firestore()
        let snapshot = try await firestore.pipeline().collection("rooms")
            .where(Field("n").lessThan(3)).rawStage(name: "delete", params: []).execute()
        #expect(snapshot.results.first?.data["documents_modified"] as? Int == 2)
        let left = try await firestore.collection("rooms").getDocuments(source: .server)
        #expect(left.documents.map(\.documentID) == ["r3", "r4", "r5"])
        await local.stop()
    }
}
