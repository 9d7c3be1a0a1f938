import Foundation
import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

/// Tests that a feed begins with the result that an earlier listener of its query has left: its
/// first sync reads what changed since, and not what the device has.
@Suite(.timeLimit(.minutes(2))) struct `A feed after a listener` {
    private let local: LocalFirestore
    private let folder = NSTemporaryDirectory() + "tidemark-" + UUID().uuidString

    init() throws { local = try LocalFirestore.start() }

    private func write(_ ids: Range<Int>, text: String = "new", deleted: Bool = false) async throws
    {
        let writer = try local.firestore(label: "writer")
        for id in ids {
            var fields: [String: Any] = [
                "text": text, "sentAt": Timestamp(seconds: Int64(id), nanoseconds: 0),
                "updatedAt": FieldValue.serverTimestamp(),
            ]
            if deleted { fields["deletedAt"] = Timestamp(seconds: 1, nanoseconds: 0) }
            try await writer.document("chats/blue/messages/m\(id)").setData(fields)
        }
        await writer.terminate()
    }

    private func phone(_ label: String) throws -> Firestore {
        try local.firestore(label: label, cache: .directory(folder))
    }

    private func messages(_ firestore: Firestore) -> Query {
        firestore.collection("chats/blue/messages")
    }

    /// Leaves the result of a query in the cache.
    private func listen(_ query: (Query) -> Query) async throws {
        let before = try phone("before")
        for try await snapshot in query(messages(before)).snapshots(includeMetadataChanges: true)
        where !snapshot.metadata.isFromCache { break }
        await before.terminate()
    }

    private func feed(_ firestore: Firestore, limit: Int? = nil) throws -> Feed {
        try Feed(
            FeedDefinition(
                query: messages(firestore), itemTime: "sentAt",
                way: .changeTime("updatedAt", deletedField: "deletedAt"), limit: limit))
    }

    private func reads(_ label: String) -> Int {
        local.meter().filter { $0.label == label }.reduce(0) { $0 + $1.reads }
    }

    private func items(_ feed: Feed) async -> [String] {
        await feed.items.map(\.document.documentID)
    }

    @Test func `of everything reads what changed since`() async throws {
        try await write(100..<140)
        local.advance(by: .seconds(600))
        try await listen { $0 }
        local.advance(by: .seconds(86_400))
        try await write(105..<107, text: "edited")
        try await write(110..<111, deleted: true)
        try await write(140..<141)
        let phone = try phone("feed")
        let feed = try feed(phone)
        try await feed.open()
        #expect(await items(feed) == (100..<140).reversed().map { "m\($0)" })
        #expect(reads("feed") == 0, "nothing is read to open it")
        try await feed.sync()
        #expect(await items(feed) == (100..<141).filter { $0 != 110 }.reversed().map { "m\($0)" })
        #expect(reads("feed") <= 5, "the four changes, and at most one read more")
        await local.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    @Test func `of the newest reads what changed since, and the rest when it is wanted`()
        async throws
    {
        try await write(100..<140)
        local.advance(by: .seconds(600))
        try await listen { $0.order(by: "sentAt", descending: true).limit(to: 20) }
        local.advance(by: .seconds(86_400))
        try await write(138..<139, text: "edited")
        let phone = try phone("feed")
        let feed = try feed(phone, limit: 20)
        try await feed.open()
        try await feed.sync()
        #expect(await items(feed) == (120..<140).reversed().map { "m\($0)" })
        #expect(reads("feed") <= 2)
        await local.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    @Test func `in another order begins with nothing`() async throws {
        try await write(100..<110)
        try await listen { $0.order(by: "text") }
        let phone = try phone("feed")
        let feed = try feed(phone)
        try await feed.sync()
        #expect(reads("feed") >= 10)
        await local.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
