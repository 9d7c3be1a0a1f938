import Foundation
import Testing
import Tidemark
import TidemarkLivePipelines
import TidemarkServer
import TidemarkTesting

/// Runs the code of the articles and of the doc comments.
@Suite(.timeLimit(.minutes(2))) struct `The articles on pipelines` {
    /// Stands for a screen.
    private func show(_ rows: [PipelineResult], isFresh: Bool) -> Bool { !rows.isEmpty }

    @Test func `pipelines on the device`() async throws {
        let devices = try Devices()
        let firestore = devices.device
        try await devices.send(1...9)
        _ = try await firestore.collection("messages").getDocuments()
        let unread = firestore.pipeline().collection("messages")
            .where(Field("isRead").equal(false))
            .aggregate([CountAll().as("unread")], groups: [Field("by")])
        let counted = try await unread.execute(source: .cache)
        #expect(counted.results.count == 2)
        struct Unread: Decodable {
            var by: String
            var unread: Int
        }
        let people = try await unread.execute(as: Unread.self, source: .cache)
        #expect(people.map(\.unread) == [3, 3] && Set(people.map(\.by)) == ["p1", "p2"])
        for try await snapshot in unread.snapshots() {
            let isShown =
                show(snapshot.results, isFresh: snapshot.freshness.isFresh)
            if isShown { break }
        }
        // The loop above can end with the cache's rows. The plan is of a pipeline that the server
        // has answered.
        for try await snapshot in unread.snapshots(includeMetadataChanges: true)
        where snapshot.freshness.isFresh { break }
        let now = firestore.environment.now()
        let messages = try await firestore.collection("messages").getDocuments().documents
            .compactMap { ExpectedSourceDocument($0) }
        var message = messages[0]
        message.fields["by"] = .string("p2")
        var plan = try await unread.plan(of: messages, at: now)
        let opening = plan.bill.reads
        plan.commit([message])  // while it is open
        let each = plan.bill.reads - opening
        #expect(opening == 0 && each == 1)
        let newest = firestore.collection("messages").order(by: "n", descending: true).limit(to: 3)
        let sizes = newest.pipeline().aggregate([Field("size").sum().as("total")])
        let total = try await sizes.execute(source: .cache)
        #expect(total.results.first?.data["total"] as? Int == 240)
        await devices.local.stop()
    }

    /// Shows a line of text about a search.
    private func show(_ collection: String, completeAt: Timestamp?) {
        #expect(collection == "messages" && completeAt != nil)
    }

    @Test func `searching on the device`() async throws {
        let devices = try Devices()
        let firestore = devices.device
        for (id, text) in [("a", "Blue teapot"), ("b", "A blue tea"), ("c", "Green tea")] {
            try await devices.other.document("messages/\(id)").setData(["text": text])
        }
        _ = try await firestore.collection("messages").getDocuments()
        try await firestore.setWordIndexes([
            WordIndex(collectionID: "messages", fields: ["text"])
        ])
        let found = try await firestore.pipeline().collection("messages")
            .search(query: "blue tea*", limit: 20)
            .execute(source: .cache)
        #expect(Set(found.results.compactMap(\.id)) == ["a", "b"])
        if let searched = found.searched.first {
            show(searched.collection, completeAt: searched.completeAt)
        }
        let live = firestore.pipeline().collection("messages").search(query: "tea")
        for try await snapshot in live.snapshots(source: .cache) {
            let isShown =
                show(snapshot.results, isFresh: snapshot.freshness.isFresh)
            if isShown { break }
        }
        await devices.local.stop()
    }

    @Test func `pipelines`() async throws {
        var configuration = FirestoreServer.Configuration()
        configuration.editions = DatabaseEditions(.enterprise)
        let local = try LocalFirestore.start(configuration: configuration)
        let firestore = try local.firestore()
        for n in 1...4 {
            let room = firestore.document("rooms/r\(n)")
            try await room.setData(["name": "R\(n)", "floor": n % 2, "seats": n * 2])
            try await room.collection("reviews").document("a").setData(["rating": n])
        }
        let floors = try await firestore.pipeline().collection("rooms")
            .where(Field("seats").greaterThan(2))
            .aggregate(
                [CountAll().as("rooms"), Field("seats").sum().as("seats")],
                groups: [Field("floor")]
            )
            .sort([Field("floor").ascending()])
            .execute()
        for row in floors.results {
            #expect(row.data["floor"] is NSNumber)
            print(row.get("floor") ?? "no floor", row.get("rooms") ?? 0)
        }
        struct Floor: Decodable {
            var floor: Int
            var rooms: Int
        }
        let decoded = try floors.decoded(as: Floor.self)
        #expect(decoded.map(\.rooms) == [2, 1] && decoded.map(\.floor) == [0, 1])
        let reviews = Subcollection("reviews")
            .aggregate([Field("rating").average().as("rating")])
            .toScalarExpression()
        let rated = firestore.pipeline().collection("rooms")
            .select([Field("name"), reviews.as("rating")])
        let ratings = try await rated.execute().results.compactMap { $0.get("rating") as? Double }
        #expect(Set(ratings) == [1, 2, 3, 4])
        await local.stop()
    }
}
