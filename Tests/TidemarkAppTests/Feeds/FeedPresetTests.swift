import Testing
import Tidemark
import TidemarkApp
import TidemarkTesting

/// Tests that each preset reads only its own items, newest first.
@Suite(.timeLimit(.minutes(2))) struct `Presets of feeds` {
    private func items(_ definition: FeedDefinition) async throws -> [String] {
        let feed = try Feed(definition)
        try await feed.sync()
        return await feed.items.map(\.document.documentID)
    }

    private func add(
        _ collection: CollectionReference, _ id: String, _ field: String, _ seconds: Int64,
        players: [String] = []
    ) async throws {
        try await collection.document(id).setData([
            field: Timestamp(seconds: seconds, nanoseconds: 0), "players": players,
            "updatedAt": FieldValue.serverTimestamp(),
        ])
    }

    @Test func `are of calls, games, purchases and media`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        let ann = firestore.document("users/ann")
        let room = firestore.document("rooms/blue")
        let games = firestore.collection("games")
        for number in 1...2 {
            let seconds = Int64(number)
            try await add(ann.collection("calls"), "c\(number)", "startedAt", seconds)
            try await add(ann.collection("purchases"), "p\(number)", "purchasedAt", seconds)
            try await add(room.collection("media"), "m\(number)", "sharedAt", seconds)
            try await add(games, "g\(number)", "endedAt", seconds, players: ["ann", "bob"])
        }
        try await add(games, "g3", "endedAt", 3, players: ["bob"])
        try await add(firestore.collection("users/bob/calls"), "c3", "startedAt", 3)

        #expect(try await items(.callLog(of: ann)) == ["c2", "c1"])
        #expect(try await items(.purchases(of: ann)) == ["p2", "p1"])
        #expect(try await items(.media(of: room)) == ["m2", "m1"])
        #expect(try await items(.gameHistory(of: "ann", in: games)) == ["g2", "g1"])
        #expect(FeedDefinition.media(of: room).limit == 200)
        await local.stop()
    }
}
