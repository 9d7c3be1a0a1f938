import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkTesting

@testable import TidemarkApp

struct `A position in a list` {
    private static func time(_ seconds: Int64) -> Timestamp {
        Timestamp(seconds: seconds, nanoseconds: 7)
    }

    @Test func `is a text that is read back`() {
        for id in ["rooms/blue/messages/m1", "rooms/a b/messages/ä  7 "] {
            for time in [Self.time(0), Self.time(-9), Self.time(1_780_000_000)] {
                let position = ListPosition(id: id, time: time)
                #expect(ListPosition(rawValue: position.rawValue) == position)
            }
        }
    }

    @Test(arguments: [
        "", "1", "1 2", "1 2 ", "a 2 rooms/blue", "1 b rooms/blue", "1 -1 rooms/blue",
        "1 1000000000 rooms/blue", "9223372036854775807 0 rooms/blue", " 1 2 rooms/blue",
    ])
    func `is not made of another text`(text: String) {
        #expect(ListPosition(rawValue: text) == nil)
    }

    private typealias Row = PositionSearch.Row

    private let search = PositionSearch(
        position: ListPosition(id: "c", time: time(30)), limit: 3)
    private let newer = [Row(id: "a", time: time(50)), Row(id: "b", time: time(40))]

    @Test func `ends at its row, at whatever time the row is now`() {
        for seconds in [Int64(10), 30, 60] {
            let rows = newer + [Row(id: "c", time: Self.time(seconds))]
            for isLoading in [true, false] {
                #expect(
                    search.step(rows: rows, isLoading: isLoading, hasMore: true) == .end(at: "c"))
            }
        }
        let rows = newer + [Row(id: "c", time: nil)]
        #expect(search.step(rows: rows, isLoading: true, hasMore: true) == .end(at: "c"))
    }

    @Test func `ends at the next older row if its row is gone`() {
        let older = [Row(id: "d", time: Self.time(20)), Row(id: "e", time: Self.time(10))]
        #expect(search.step(rows: newer + older, isLoading: false, hasMore: true) == .end(at: "d"))
        // A row of the same time is no older row.
        let same = newer + [Row(id: "x", time: Self.time(30))]
        #expect(search.step(rows: same, isLoading: false, hasMore: false) == .end(at: "x"))
    }

    @Test func `waits for a page, asks for the next one, and ends at the bound`() {
        #expect(search.step(rows: newer, isLoading: true, hasMore: true) == .wait)
        #expect(search.step(rows: newer, isLoading: false, hasMore: true) == .loadMore)
        #expect(search.step(rows: newer, isLoading: false, hasMore: false) == .end(at: "b"))
        #expect(search.step(rows: [], isLoading: false, hasMore: false) == .end(at: nil))
        let failed = search.step(rows: newer, isLoading: false, hasMore: true, hasFailed: true)
        #expect(failed == .end(at: nil))
        let more = newer + [Row(id: "x", time: Self.time(35))]
        #expect(search.step(rows: more, isLoading: false, hasMore: true) == .end(at: nil))
    }
}

@MainActor @Suite(.timeLimit(.minutes(2))) struct `A list that opens at a position` {
    private struct Message: Decodable, Sendable {
        var text: String
    }

    /// Writes 300 messages, one second apart.
    private func write(to room: DocumentReference) async throws {
        let batch = room.firestore.batch()
        for number in 1...300 {
            batch.setData(
                [
                    "text": "\(number)",
                    "sentAt": Timestamp(seconds: Int64(number), nanoseconds: 0),
                    "updatedAt": FieldValue.serverTimestamp(),
                ], forDocument: room.collection("messages").document("m\(number)"))
        }
        try await batch.commit()
    }

    private func feed(_ firestore: Firestore) throws -> TypedFeed<Message> {
        try TypedFeed(
            of: Message.self,
            FeedDefinition(
                query: firestore.collection("rooms/blue/messages"), itemTime: "sentAt",
                way: .changeTime("updatedAt", deletedField: "deletedAt")))
    }

    @Test func `shows a feed's item of the device, without a read`() async throws {
        let local = try LocalFirestore.start()
        let room = try local.firestore(label: "author").document("rooms/blue")
        try await write(to: room)
        let device = try local.firestore(label: "device")
        let model = FeedModel(try feed(device), isLive: false)
        await model.refresh()
        try await model.loadMore(200)
        let topRow = model.items[220].id
        #expect(model.position(of: "rooms/blue/messages/none") == nil)
        let name = "tidemark-position-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: name))
        defer { defaults.removePersistentDomain(forName: name) }
        defaults.set(model.position(of: topRow)?.rawValue, forKey: "blue")
        let left = defaults.string(forKey: "blue").flatMap(ListPosition.init)
        #expect(left == model.items[220].position)

        await device.disableNetwork()
        let opened = FeedModel(try feed(device), isLive: false)
        #expect(try await opened.loadMore(to: left) == topRow)
        #expect(opened.items.count > 220 && opened.items.count <= 350)
        #expect(opened.items[220].id == topRow)
        // The limit is a number of items.
        let short = FeedModel(try feed(device), isLive: false)
        #expect(try await short.loadMore(to: left, atMost: 120) == nil)
        #expect(short.items.count == 120)
        #expect(try await short.loadMore(to: nil) == nil)
        await local.stop()
    }

    @Test func `shows the next older item if the feed's item is gone`() async throws {
        let local = try LocalFirestore.start()
        let room = try local.firestore(label: "author").document("rooms/blue")
        try await write(to: room)
        let device = try local.firestore(label: "device")
        let position = ListPosition(
            id: "rooms/blue/messages/m100", time: Timestamp(seconds: 100, nanoseconds: 0))
        try await room.collection("messages").document("m100").updateData([
            "deletedAt": FieldValue.serverTimestamp(),
            "updatedAt": FieldValue.serverTimestamp(),
        ])
        let model = FeedModel(try feed(device), isLive: false)
        await model.refresh()
        #expect(try await model.loadMore(to: position) == "rooms/blue/messages/m99")
        await local.stop()
    }

    @Test func `loads the pages of a pager to the row`() async throws {
        let local = try LocalFirestore.start()
        let room = try local.firestore(label: "author").document("rooms/blue")
        try await write(to: room)
        let device = try local.firestore(label: "device").document("rooms/blue")
        let pager = try Pager.messages(of: device, pageSize: 50)
        let model = TypedPagerModel<Message>(pager)
        let topRow = "rooms/blue/messages/m180"
        let left = ListPosition(id: topRow, time: Timestamp(seconds: 180, nanoseconds: 0))
        let row = await model.loadMore(to: left)
        #expect(row == topRow && model.rows.count == 150)
        #expect(model.position(of: topRow) == left)
        #expect(model.position(of: "rooms/blue/messages/m3") == nil, "it is not shown")
        try await room.collection("messages").document("m110").delete()
        let gone = ListPosition(
            id: "rooms/blue/messages/m110", time: Timestamp(seconds: 110, nanoseconds: 0))
        #expect(await model.loadMore(to: gone) == "rooms/blue/messages/m109")
        let short = TypedPagerModel<Message>(try Pager.messages(of: device, pageSize: 50))
        #expect(await short.loadMore(to: left, atMost: 100) == nil)
        #expect(short.rows.count == 100)
        pager.close()
        #expect(
            await model.loadMore(to: ListPosition(id: "x", time: .init(milliseconds: 0))) == nil
        )
        await local.stop()
    }
}
