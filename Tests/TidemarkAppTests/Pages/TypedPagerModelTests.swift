import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

@MainActor @Suite(.timeLimit(.minutes(5))) struct `A pager of values` {
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
        while model.items.count < 3 { await Task.yield() }
        #expect(model.items.compactMap(\.id) == ["m3", "m4", "m5"])
        #expect(model.undecodable.keys.map(\.text) == ["rooms/blue/messages/bad"])
        model.loadMore()
        while model.items.count < 5 { await Task.yield() }
        #expect(model.items.map(\.text) == (1...5).map { "text \($0)" })
        #expect(model.error == nil)
        try await room.collection("messages").document("bad").updateData(["text": "good"])
        while !model.undecodable.isEmpty { await Task.yield() }
        #expect(model.items.count == 6)
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
        while model.items.count < 2 { await Task.yield() }
        #expect(model.items.compactMap(\.id) == ["c1", "c3"], "the latest last")
        pager.close()
        await local.stop()
    }
}
