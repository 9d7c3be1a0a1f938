import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

@MainActor @Suite(.timeLimit(.minutes(2))) struct `A pager of values` {
    private struct Message: Decodable, Sendable, Equatable {
        @DocumentID var id: String?
        var text: String
    }

    @Test func `shows those it can decode, and names the others`() async throws {
        let local = try LocalFirestore.start()
        let room = try local.firestore(label: "author").document("rooms/blue")
        let start = local.now
        for number in 1...5 {
            try await room.collection("messages").document("m\(number)").setData([
                "sentAt": start.advanced(by: .seconds(number)), "text": "text \(number)",
            ])
        }
        try await room.collection("messages").document("bad").setData([
            "sentAt": start.advanced(by: .seconds(3)), "text": 7,
        ])
        let device = try local.firestore(label: "device")
        let pager = try Pager.messages(of: device.document("rooms/blue"), pageSize: 4)
        let model = TypedPagerModel<Message>(pager)
        try await until("3 items are there") { model.items.count >= 3 }
        #expect(model.items.compactMap(\.id) == ["m3", "m4", "m5"])
        #expect(model.undecodable.keys.map(\.text) == ["rooms/blue/messages/bad"])
        model.loadMore()
        try await until("5 items are there") { model.items.count >= 5 }
        #expect(model.items.map(\.text) == (1...5).map { "text \($0)" })
        #expect(model.error == nil)
        try await room.collection("messages").document("bad").updateData(["text": "good"])
        try await until("all documents decode") { model.undecodable.isEmpty }
        #expect(model.items.count == 6)
        pager.close()
        await local.stop()
    }

    @Test func `tells what is being sent, and what was refused`() async throws {
        let local = try LocalFirestore.start()
        let device = try local.firestore(label: "device")
        let messages = device.collection("rooms/blue/messages")
        try await messages.document("m0").setData(["sentAt": local.now, "text": "first"])
        let pager = try Pager.messages(of: device.document("rooms/blue"))
        let model = TypedPagerModel<Message>(pager)
        try await until("a row is there") { model.rows.count >= 1 }
        #expect(model.rows[0].delivery == .delivered)
        await device.disableNetwork()
        local.advance(by: .seconds(1))
        // The batch also changes a room that does not exist, so the server refuses both writes.
        let batch = device.batch()
        batch.setData(
            ["sentAt": local.now, "text": "second"], forDocument: messages.document("m1"))
        batch.updateData(["count": 1], forDocument: device.document("rooms/blue"))
        batch.commit { _ in }
        try await until("2 rows are there") { model.rows.count >= 2 }
        #expect(model.rows[1].isPending && model.rows[1].value.text == "second")
        #expect(model.scroll == .toNewest(isOwn: true))
        await device.enableNetwork()
        try await until("the last row has failed") { model.rows.last?.isFailed == true }
        #expect(model.items.map(\.text) == ["first", "second"], "it stays where it was")
        #expect(model.rows.map(\.id) == ["rooms/blue/messages/m0", "rooms/blue/messages/m1"])
        pager.close()
        await local.stop()
    }

    @Test func `sends again what was refused, and it is delivered`() async throws {
        let local = try LocalFirestore.start()
        let device = try local.firestore(label: "device")
        let room = device.document("rooms/blue")
        let pager = try Pager.messages(of: room)
        let model = TypedPagerModel<Message>(pager)
        let batch = device.batch()
        batch.setData(
            ["sentAt": local.now, "text": "one"],
            forDocument: room.collection("messages").document("m1"))
        batch.updateData(["count": 1], forDocument: room)
        batch.commit { _ in }
        try await until("the last row has failed") { model.rows.last?.isFailed == true }
        // The server refuses the retry too, and the row fails again.
        try await model.retry(model.rows[0])
        try await device.waitForPendingWrites()
        try await until("the last row has failed") { model.rows.last?.isFailed == true }
        let author = try local.firestore(label: "author")
        try await author.document("rooms/blue").setData(["count": 0])
        try await model.retry(model.rows[0])
        try await until("the last row is delivered") { model.rows.last?.delivery == .delivered }
        #expect(model.items.map(\.text) == ["one"])
        #expect(try await device.rejectedWrites().isEmpty)
        pager.close()
        await local.stop()
    }

    @Test func `forgets what was refused`() async throws {
        let local = try LocalFirestore.start()
        let device = try local.firestore(label: "device")
        let messages = device.collection("rooms/blue/messages")
        let pager = try Pager.messages(of: device.document("rooms/blue"))
        let model = TypedPagerModel<Message>(pager)
        let batch = device.batch()
        batch.setData(["sentAt": local.now, "text": "one"], forDocument: messages.document("m1"))
        batch.updateData(["count": 1], forDocument: device.document("rooms/blue"))
        batch.commit { _ in }
        try await until("the last row has failed") { model.rows.last?.isFailed == true }
        try await model.discard(model.rows[0])
        try await until("no row is left") { model.rows.isEmpty }
        #expect(try await device.rejectedWrites().isEmpty)
        pager.close()
        await local.stop()
    }

    @Test func `loads as the oldest rows appear, and keeps the place`() async throws {
        let local = try LocalFirestore.start()
        // Another device writes the messages, because this device's own writes would cause another
        // state first.
        let author = try local.firestore(label: "author")
        let device = try local.firestore(label: "device")
        let messages = author.collection("rooms/blue/messages")
        let batch = author.batch()
        for number in 10...39 {
            batch.setData(
                ["sentAt": local.now.advanced(by: .seconds(number)), "text": "\(number)"],
                forDocument: messages.document("m\(number)"))
        }
        try await batch.commit()
        let pager = try Pager.messages(of: device.document("rooms/blue"), pageSize: 10)
        let model = TypedPagerModel<Message>(pager)
        try await until("10 rows are there, and no page is on its way") {
            model.rows.count >= 10 && !model.isLoadingMore
        }
        #expect(model.scroll == .toNewest(isOwn: false))
        model.loadMoreIfNeeded(at: model.rows[9].id, within: 3)
        #expect(!pager.current.isLoadingMore, "that one is far from the oldest")
        let oldest = model.rows[0].id
        model.loadMoreIfNeeded(at: model.rows[2].id, within: 3)
        try await until("20 rows are there") { model.rows.count >= 20 }
        #expect(model.scroll == .keep(oldest))
        #expect(model.items.map(\.text) == (20...39).map { "\($0)" })
        pager.close()
        await local.stop()
    }

    @Test func `pages the conversations of a user`() async throws {
        let local = try LocalFirestore.start()
        let chats = try local.firestore(label: "author").collection("chats")
        for number in 1...3 {
            try await chats.document("c\(number)").setData([
                "lastMessageAt": local.now.advanced(by: .seconds(number)),
                "members": number == 2 ? ["bob"] : ["ann", "bob"], "text": "chat \(number)",
            ])
        }
        let device = try local.firestore(label: "device")
        let pager = try Pager.conversations(of: "ann", in: device.collection("chats"))
        let model = TypedPagerModel<Message>(pager)
        try await until("2 items are there") { model.items.count >= 2 }
        #expect(model.items.compactMap(\.id) == ["c1", "c3"], "the latest last")
        pager.close()
        await local.stop()
    }
}
