import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkServer
import TidemarkTesting

@testable import TidemarkApp

@Suite(.timeLimit(.minutes(2))) struct `A chat list` {
    private struct Chat: Decodable, Sendable { var title: String }

    private let fields = ConversationFields()

    private func write(
        _ author: Firestore, _ count: Int, _ counts: Bool = true
    ) async throws {
        for start in stride(from: 0, to: count, by: 200) {
            let batch = author.batch()
            for number in start..<min(start + 200, count) {
                batch.setData(
                    [
                        "members": ["ann", "bob"], "title": "Chat \(number)",
                        "lastMessage": ["text": "hello", "senderId": "bob"],
                        "lastMessageAt": FieldValue.serverTimestamp(),
                        "updatedAt": FieldValue.serverTimestamp(), "messageCount": 100,
                        "unreadCounts": ["ann": 2],
                    ], forDocument: author.document("chats/c\(number)"))
            }
            try await batch.commit()
        }
    }

    private func send(
        _ firestore: Firestore, to id: String, _ text: String, from sender: String = "bob",
        _ fields: ConversationFields = ConversationFields()
    ) async throws {
        let chat = firestore.document("chats/\(id)")
        let batch = firestore.batch()
        batch.setData(
            [
                "text": text, "sentAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ],
            forDocument: chat.collection("messages").document())
        batch.updateData(
            fields.sending(["text": text], from: sender, to: sender == "bob" ? ["ann"] : ["bob"]),
            forDocument: chat)
        try await batch.commit()
    }

    private func list(
        _ device: Firestore, fields: ConversationFields = ConversationFields(),
        shared: FeedDefinition.SharedMark? = nil
    ) throws -> ConversationList {
        try ConversationList(
            .chatList(of: "ann", in: device.collection("chats")), user: "ann", fields: fields,
            sharedMarks: shared)
    }

    /// Returns the first state for which `isWanted` is true.
    @discardableResult
    private func state(
        _ list: ConversationList, _ isWanted: (ConversationListState) -> Bool
    ) async -> ConversationListState {
        for await state in list.states where isWanted(state) { return state }
        return ConversationListState()
    }

    @Test func `of 1,000 changes a badge with one snapshot, at one read`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author")
            try await write(author, 1_000)
            local.advance(by: .seconds(600))
            let device = try local.firestore(label: "device")
            let list = try list(device)
            await list.start()
            let first = await state(list) { $0.phase == .fresh && $0.items.count == 1_000 }
            #expect(first.unreadTotal == 0 && first.unreadConversations == 0)
            #expect(first.items[0].lastMessage?["text"] as? String == "hello")
            // The list reads two full pages and an empty one. The listener costs one more read,
            // after the list is shown.
            let billed = 1_002
            try await until("the listener is billed") { local.reads(of: "device") >= billed }
            #expect(local.reads(of: "device") == billed)
            var states: [ConversationListState] = []
            let watching = list.states
            try await send(author, to: "c500", "one")
            for await state in watching {
                states.append(state)
                if state.unreadTotal == 1 { break }
            }
            let last = try #require(states.last)
            #expect(last.items[0].id == "c500" && last.items[0].unreadCount == 1)
            #expect(last.items[0].lastMessage?["text"] as? String == "one")
            #expect(
                states.dropLast().allSatisfy {
                    $0.items[0].lastMessage?["text"] as? String == "hello"
                },
                "the message and its badge come together")
            #expect(local.reads(of: "device") - billed == 1)
            try await list.markSeen("c500")
            #expect(await list.state.unreadTotal == 0)
            #expect(local.reads(of: "device") - billed == 1, "seeing it costs nothing")
            await list.stop()
        }
    }

    @Test func `says what a refresh costs before it asks`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author")
            try await write(author, 60)
            let device = try local.firestore(label: "device")
            let list = try list(device)
            /// Returns the plan before the refresh, and the reads billed for the refresh.
            func refresh() async throws -> (ReadPlan, reads: Int) {
                try await list.open()
                let plan = try #require(await list.plan)
                let before = local.reads(of: "device")
                try await list.refresh()
                return (plan, local.reads(of: "device") - before)
            }
            let first = try await refresh()
            #expect(first.0.kind == .full && first.0.prediction.allows(first.reads))
            #expect(first.reads == 60)
            // Every conversation has changed within the overlap, so all of them are read again.
            let again = try await refresh()
            #expect(again.0.kind == .delta && again.0.prediction.ifUnchanged == again.reads)
            #expect(again.reads == 60)
            local.advance(by: .seconds(600))
            let quiet = try await refresh()
            let later = try await refresh()
            #expect(quiet.reads == 60 && quiet.0.prediction.ifUnchanged == quiet.reads)
            #expect(later.reads == 1 && later.0.prediction.ifUnchanged == later.reads)
            for id in ["c7", "c8", "c9"] { try await send(author, to: id, "news") }
            try await send(author, to: "c9", "more")
            let news = try await refresh()
            #expect(news.reads == 3 && news.0.prediction.allows(news.reads))
            #expect(await list.state.unreadTotal == 4)
            let pager = try Pager.conversations(of: "ann", in: device.collection("chats"))
            let paged = try ConversationList(pager, user: "ann")
            #expect(await paged.plan == nil)
            pager.close()
        }
    }

    @Test func `is on disk at the next launch, with its badges, offline`() async throws {
        let folder = TestFolder()
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author")
            try await write(author, 60)
            local.advance(by: .seconds(600))
            func device() throws -> Firestore {
                try local.firestore(label: "device", cache: .directory(folder.path))
            }
            let before = try device()
            let list1 = try list(before)
            try await list1.refresh()
            for text in ["one", "two", "three"] { try await send(author, to: "c7", text) }
            try await send(author, to: "c8", "other")
            try await list1.refresh()
            #expect(await list1.state.unreadTotal == 4)
            try await list1.markSeen("c8")
            await before.terminate()

            let billed = local.reads(of: "device")
            let after = try device()
            await after.disableNetwork()
            let list2 = try list(after)
            let items = try await list2.open()
            #expect(items.count == 60)
            #expect(items.first { $0.id == "c7" }?.unreadCount == 3)
            #expect(items.first { $0.id == "c8" }?.unreadCount == 0)
            #expect(await list2.state.unreadTotal == 3)
            try await list2.markAllSeen()
            #expect(await list2.state.unreadTotal == 0)
            #expect(local.reads(of: "device") == billed)
        }
    }

    @Test func `shares what was seen between devices, also what was seen offline`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author")
            try await write(author, 5)
            local.advance(by: .seconds(600))
            func shared(_ device: Firestore) -> FeedDefinition.SharedMark {
                FeedDefinition.SharedMark(device.document("users/ann"), field: "seen")
            }
            let (phone, tablet) = (
                try local.firestore(label: "phone"), try local.firestore(label: "tablet")
            )
            let onPhone = try list(phone, shared: shared(phone))
            await onPhone.start()
            await state(onPhone) { $0.phase == .fresh && $0.items.count == 5 }
            // The shared beginning is a server time too, so the messages get a later time.
            local.advance(by: .seconds(1))
            try await send(author, to: "c1", "one")
            try await send(author, to: "c1", "two")
            await state(onPhone) { $0.unreadTotal == 2 }
            let onTablet = try list(tablet, shared: shared(tablet))
            await onTablet.start()
            // The counting began on the phone, so the tablet does not know the number of new
            // messages.
            let first = await state(onTablet) { $0.unreadTotal > 0 }
            #expect(first.items[0].id == "c1" && !first.items[0].isUnreadCountExact)
            await phone.disableNetwork()
            try await onPhone.markSeen("c1")
            #expect(await onPhone.state.unreadTotal == 0)
            await phone.enableNetwork()
            await state(onTablet) { $0.unreadTotal == 0 }
            try await send(author, to: "c1", "three")
            let third = await state(onTablet) { $0.unreadTotal == 1 }
            #expect(third.items[0].isUnreadCountExact)
            #expect(third.sharedMarksError == nil)
            await onPhone.stop()
            await onTablet.stop()
        }
    }

    @Test func `counts for each user, where the documents do`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author")
            let fields = ConversationFields(unread: .ofEachUser("unreadCounts"))
            try await write(author, 3)
            let device = try local.firestore(label: "device")
            let list = try list(device, fields: fields)
            await list.start()
            await state(list) { $0.unreadTotal == 6 }
            try await send(author, to: "c1", "one", from: "bob", fields)
            await state(list) { $0.unreadTotal == 7 }
            await device.disableNetwork()
            try await list.markSeen("c1")
            let seen = await state(list) { $0.unreadTotal == 4 }
            #expect(seen.items.first { $0.id == "c1" }?.hasPendingWrites == true)
            await device.enableNetwork()
            try await device.waitForPendingWrites()
            let counts = try await author.document("chats/c1").getDocument(source: .server)
            #expect(counts["unreadCounts.ann"] as? Int64 == 0)
            await list.stop()
        }
    }

    @Test func `knows one's own last message by the app's own field`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author")
            try await write(author, 2)
            var fields = ConversationFields()
            fields.lastSender = "lastMessage.author"
            let device = try local.firestore(label: "device")
            let list = try list(device, fields: fields)
            await list.start()
            await state(list) { $0.phase == .fresh && $0.items.count == 2 }
            local.advance(by: .seconds(1))
            try await author.document("chats/c1").updateData([
                "lastMessage": ["text": "mine", "author": "ann"],
                "lastMessageAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
                "messageCount": FieldValue.increment(Int64(1)),
            ])
            let own = await state(list) {
                $0.items[0].lastMessage?["text"] as? String == "mine"
            }
            #expect(own.items[0].isLastMessageOwn && !own.items[0].isUnread)
            #expect(own.items[1].id == "c0" && !own.items[1].isLastMessageOwn)
            await list.stop()
        }
    }

    @Test func `goes page by page from a pager, and follows a conversation's feed`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author")
            for number in 0..<3 {
                try await write(author, 120 - number)
                local.advance(by: .seconds(1))
            }
            let device = try local.firestore(label: "device")
            let pager = try Pager.conversations(of: "ann", in: device.collection("chats"))
            let list = try ConversationList(pager, user: "ann")
            await list.start()
            await state(list) { $0.phase == .fresh && $0.items.count == 50 && $0.hasMore }
            #expect(local.reads(of: "device") == 50)
            try await list.loadMore()
            await state(list) { $0.items.count == 100 }
            let chat = await list.state.items[0].id
            try await send(author, to: chat, "one")
            try await send(author, to: chat, "two")
            await state(list) { $0.unreadTotal == 2 }
            let feed = try Feed(.conversation(device.document("chats/\(chat)")))
            await list.follow(feed, of: chat)
            try await feed.sync()
            try await feed.markConsumed()
            await state(list) { $0.unreadTotal == 0 }
            await list.unfollow(chat)
            pager.close()
            await list.stop()
        }
    }

    @MainActor
    @Test func `has a model that tells loading, empty, fresh and failed`() async throws {
        let local = try LocalFirestore.start()
        let author = try local.firestore(label: "author")
        let device = try local.firestore(label: "device")
        let model = ConversationListModel<Chat>(try list(device))
        #expect(model.phase == .loading)
        try await until("the model says that it is empty") { model.phase == .empty }
        try await write(author, 2)
        try await until("2 rows are there") { model.rows.count >= 2 }
        #expect(model.phase == .fresh)
        #expect(model.rows.map(\.value.title).sorted() == ["Chat 0", "Chat 1"])
        try await author.document("chats/c1").updateData([
            "title": 7, "updatedAt": FieldValue.serverTimestamp(),
        ])
        try await until("a document that does not decode is told") { !model.undecodable.isEmpty }
        #expect(model.rows.map(\.id) == ["c0"])
        try await send(author, to: "c0", "one")
        try await until("something is unread") { model.unreadTotal > 0 }
        #expect(model.rows[0].isUnread && model.rows[0].unreadCount >= 1)
        try await model.markSeen("c0")
        try await until("nothing is unread") { model.unreadTotal == 0 }
        await local.stop()
        await model.refresh()
        try await until("the model is not fresh any more") { model.phase != .fresh }
        guard case .failed = model.phase else {
            Issue.record("it is \(model.phase)")
            return
        }
    }

    /// An older version of the app counts nothing.
    @Test func `counts what nobody has counted, once, and says its price first`() async throws {
        try await LocalFirestore.start().whileRunning { local in
            let author = try local.firestore(label: "author")
            func send(_ count: Int, to id: String) async throws {
                let chat = author.document("chats/\(id)")
                for _ in 0..<count {
                    local.advance(by: .seconds(1))
                    let now = local.now
                    let batch = author.batch()
                    batch.setData(
                        ["text": "x", "sentAt": now],
                        forDocument: chat.collection("Messages").document())
                    batch.setData(
                        [
                            "members": ["ann", "bob"], "lastMessageAt": now,
                            "lastMessage": ["text": "x", "senderId": "bob"],
                            "updatedAt": FieldValue.serverTimestamp(),
                        ], forDocument: chat, merge: true)
                    try await batch.commit()
                }
            }
            for id in ["c1", "c2", "c3"] { try await send(4, to: id) }
            local.advance(by: .seconds(600))
            let device = try local.firestore(label: "device")
            let list = try list(device)
            try await list.refresh()
            #expect(await list.state.unreadTotal == 0)
            #expect(await list.uncounted == 0)

            try await send(5, to: "c1")
            try await send(3, to: "c3")
            try await list.refresh()
            #expect(await list.state.items.map(\.unreadCount) == [1, 1, 0])
            #expect(await list.uncounted == 2)
            let before = local.reads(of: "device")
            print("\(await list.uncounted) reads")
            let counting = try await list.countUnread(messages: "Messages", sentAt: "sentAt")
            #expect(counting == UnreadCounting(conversations: 2, reads: 2))
            #expect(local.reads(of: "device") - before == 2)
            #expect(await list.state.items.map(\.unreadCount) == [3, 5, 0])
            #expect(await list.state.items.allSatisfy(\.isUnreadCountExact))
            #expect(await list.uncounted == 0)
            #expect(try await list.countUnread(messages: "Messages").reads == 0)

            // A relaunch keeps the counts.
            let again = try self.list(device)
            try await again.open()
            #expect(await again.state.items.map(\.unreadCount) == [3, 5, 0])
            try await again.markSeen("c1")
            #expect(await again.state.items.map(\.unreadCount) == [3, 0, 0])
        }
    }
}
