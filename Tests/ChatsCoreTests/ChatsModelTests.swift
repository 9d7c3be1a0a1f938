import ExampleKit
import ExampleTesting
import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkTesting

@testable import ChatsCore

@MainActor @Suite(.timeLimit(.minutes(2))) struct `A chat list` {
    private func isFresh(_ phase: FeedPhase) -> Bool {
        if case .fresh = phase { true } else { false }
    }

    /// Opens the list and closes it. One hour later, a message arrives.
    private func openAnHourAgo(_ world: ChatsWorld) async throws {
        try await world.project.seed()
        let client = try world.client()
        let list = try world.app(client).chats()
        try await until { isFresh(list.phase) && list.rows.count == 6 }
        await client.terminate()
        world.local.advance(by: .seconds(3_600))
        try await world.project.write("news", by: "Grace", id: "g1")
    }

    @Test func `has a badge for what came, on both devices, until it was seen on one`() async throws
    {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            let phone = try world.app(world.client()).chats()
            let tablet = try world.app(world.client("tablet")).chats()
            try await until {
                isFresh(phone.phase) && phone.rows.count == 6 && phone.unreadTotal == 0
            }
            world.local.advance(by: .seconds(1))
            try await world.project.write("one", by: "Alan", id: "a1")
            try await world.project.write("two", by: "Alan", id: "a2")
            try await until { phone.unreadTotal == 2 && tablet.unreadTotal == 2 }
            #expect(phone.rows.first?.id == "alan" && phone.rows.first?.unread == 2)
            #expect(phone.rows.map(\.id) == (try await world.project.chats()))
            await tablet.markSeen(tablet.rows[0])
            #expect(tablet.rows[0].unread == 0 || tablet.unreadTotal <= 2)
            try await until { phone.unreadTotal == 0 && tablet.unreadTotal == 0 }
        }
    }

    @Test func `opens from disk, says since when, and reads what changed`() async throws {
        try await ChatsWorld.run { world in
            try await openAnHourAgo(world)
            let second = try world.client()
            await second.disableNetwork()
            let before = world.reads()
            let again = try world.app(second).chats()
            try await until { again.rows.count == 6 }
            guard case .stale(let age?) = again.phase else {
                Issue.record("\(again.phase)")
                return
            }
            #expect(age > .seconds(3_599) && age < .seconds(3_601), "\(age)")
            await second.enableNetwork()
            try await until { isFresh(again.phase) && again.rows.first?.id == "grace" }
            #expect(again.unreadTotal == 1)
            // The reads are one chat, the seen marks, and at most the changes of the five minutes
            // before the last open.
            #expect(world.reads() - before <= 9)
        }
    }

    @Test func `knows what its next open costs, and asks nobody for it`() async throws {
        try await ChatsWorld.run { world in
            try await openAnHourAgo(world)
            let app = try world.app(world.client())
            let before = world.reads()
            let prediction = try await app.nextOpen().prediction
            #expect(world.reads() == before && prediction.atLeast == 1)
            let again = try app.chats()
            try await until { isFresh(again.phase) && again.unreadTotal == 1 }
            // The seen marks cost one more read.
            try await until { prediction.allows(world.reads() - before - 1) }
        }
    }

    @Test func `of a new person is empty; one without a server has a way out`() async throws {
        try await ChatsWorld.run { world in
            let list = try world.app(world.client()).chats()
            try await until { isFresh(list.phase) }
            #expect(list.rows.isEmpty && list.unreadTotal == 0)
            let screens = ChatsScreens(me: "ada", now: world.local.now)
            #expect(
                screens.state(list.phase, isEmpty: true, empty: "Nobody has written yet.")
                    == .empty("Nobody has written yet."))
            let failed = FeedPhase.failed(FirestoreError(.unavailable, "no server"))
            guard case .failed(_, wayOut: "again") = screens.state(failed, isEmpty: true, empty: "")
            else {
                Issue.record("no way out")
                return
            }
            #expect(
                screens.list([], .failed(reason: "", wayOut: "again")).controls.last?.id == "again")
        }
    }
}

@MainActor @Suite(.timeLimit(.minutes(2))) struct `A chat` {
    private func isFresh(_ phase: FeedPhase) -> Bool {
        if case .fresh = phase { true } else { false }
    }

    @Test func `is read once, and then for what is new`() async throws {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            let first = try world.client()
            var chat: ChatModel? = try world.app(first).chat("grace")
            try await until { isFresh(chat!.messages.phase) && chat!.messages.items.count == 50 }
            chat = nil
            await first.terminate()
            world.local.advance(by: .seconds(86_400))
            for number in 0..<10 {
                world.local.advance(by: .seconds(1))
                try await world.project.write("news \(number)", by: "Grace", id: "g\(number)")
            }
            let before = world.reads()
            let second = try world.client()
            let again = try world.app(second).chat("grace")
            try await until {
                isFresh(again.messages.phase) && again.messages.items.first?.value.id == "g9"
            }
            // The reads are ten new messages, the call and the shared mark. From then on the chat
            // is live.
            #expect(world.reads() - before <= 13, "\(world.reads() - before)")
            while again.messages.hasMore { await again.loadEarlier() }
            let truth = try await world.project.messages(of: "grace")
            #expect(again.messages.items.reversed().compactMap(\.value.id) == truth)
        }
    }

    @Test func `keeps what the old app had cleared and read on this phone`() async throws {
        let name = "tidemark-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: name))
        defer { defaults.removePersistentDomain(forName: name) }
        try await ChatsWorld.run { world in
            try await world.project.seed()
            let chat = try world.app(world.client()).chat("grace")
            try await until { isFresh(chat.messages.phase) && chat.messages.items.count == 50 }
            let times = chat.messages.items.map(\.item.time)
            defaults.set(times[9].milliseconds, forKey: "cleared_grace")
            defaults.set("\(times[4].milliseconds)", forKey: "seen_grace")
            for _ in 0..<2 {
                await chat.adoptOldMarks(from: defaults)
                #expect(chat.problem == nil)
                try await until {
                    chat.messages.items.count == 9 && chat.messages.unreadCount == 4
                }
            }
            defaults.set("last week", forKey: "cleared_grace")
            await chat.adoptOldMarks(from: defaults)
            #expect(chat.problem != nil && chat.messages.items.count == 9)
        }
    }

    @Test func `opens at the message at which the user has left it`() async throws {
        let name = "tidemark-chat-position-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: name))
        defer { defaults.removePersistentDomain(forName: name) }
        try await ChatsWorld.run { world in
            try await world.project.seed()
            try await world.write(200, to: "grace")
            let phone = try world.app(world.client())
            let chat = try phone.chat("grace")
            try await until { isFresh(chat.messages.phase) && chat.messages.items.count == 50 }
            for _ in 0..<2 { await chat.loadEarlier() }
            let row = chat.messages.items[120].id
            #expect(await chat.rowLeft(in: defaults) == nil)
            chat.leave(at: row, in: defaults)
            let reads = world.reads()
            let again = try phone.chat("grace")
            // The view shows the newest messages before the chat has opened at its position.
            again.leave(at: nil, in: defaults)
            #expect(await again.rowLeft(in: defaults) == row)
            #expect(again.messages.items.contains { $0.id == row })
            #expect(world.reads() - reads <= 6, "only the listener and its rules are read")
            // The user leaves at the newest message.
            again.leave(at: again.messages.items.first?.id, in: defaults)
            let last = try phone.chat("grace")
            #expect(await last.rowLeft(in: defaults) == nil)
        }
    }

    @Test func `keeps the positions of a hundred chats`() throws {
        let name = "tidemark-chat-positions-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: name))
        defer { defaults.removePersistentDomain(forName: name) }
        func position(_ number: Int) -> ListPosition {
            ListPosition(id: "chats/c/messages/m\(number)", time: Timestamp(milliseconds: 0))
        }
        let positions = ChatPositions(of: "ada", in: defaults)
        for number in 0..<ChatPositions.limit { positions["c\(number)"] = position(number) }
        positions["c0"] = position(7)
        positions["new"] = position(8)
        #expect(positions["c0"] == position(7) && positions["new"] == position(8))
        #expect(positions["c1"] == nil, "the chat that was left first")
        #expect(positions["c2"] == position(2))
        positions["c2"] = nil
        #expect(positions["c2"] == nil && positions["c3"] == position(3))
        #expect(ChatPositions(of: "grace", in: defaults)["c3"] == nil)
        defaults.set("damaged", forKey: "positions_ada")
        #expect(positions["c3"] == nil)
    }

    @Test func `of 5,000 costs a new phone the newest, and each older page once`() async throws {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            try await world.write(5_000, to: "grace")
            let first = try world.client()
            var chat: ChatModel? = try world.app(first).chat("grace")
            try await until { isFresh(chat!.messages.phase) && chat!.messages.items.count == 50 }
            // The chat listens, so the server bills later messages to it.
            world.local.advance(by: .seconds(1))
            try await world.project.write("news", by: "Grace", id: "g1")
            try await until { chat!.messages.items.first?.value.id == "g1" }
            // The reads are the new message, the shared mark, the chat for the rules, and one per
            // listener.
            let held = ChatsApp.heldMessages + 1
            #expect(world.reads() >= held && world.reads() <= held + 6, "\(world.reads())")
            var before = world.reads()
            await chat!.loadEarlier()
            #expect(chat!.messages.items.count == 100 && world.reads() == before, "held")
            let taps = (0..<2).map { _ in Task { [chat] in await chat!.loadEarlier() } }
            for tap in taps { await tap.value }
            #expect(chat!.messages.items.count == 150 && chat!.messages.hasMore)
            // The rules read the chat too.
            #expect(world.reads() - before == 150 - held + 1, "the next page, once")
            chat = nil
            await first.terminate()
            before = world.reads()
            let second = try world.client()
            await second.disableNetwork()
            let reopened = try world.app(second).chat("grace")
            try await until { reopened.messages.items.count == 50 }
            await reopened.loadEarlier()
            await reopened.loadEarlier()
            #expect(reopened.problem == nil && world.reads() == before)
            let truth = try await world.project.messages(of: "grace")
            #expect(
                reopened.messages.items.reversed().compactMap(\.value.id)
                    == Array(truth.suffix(150)))
        }
    }

    @Test func `that was cleared is not read again, here and on a new device`() async throws {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            let chat = try world.app(world.client()).chat("grace")
            try await until { isFresh(chat.messages.phase) && chat.messages.items.count == 50 }
            await chat.clear()
            try await until { chat.messages.items.isEmpty }
            #expect(chat.problem == nil)
            world.local.advance(by: .seconds(60))
            try await world.project.write("after it", by: "Grace", id: "g1")
            try await until { chat.messages.items.map(\.value.id) == ["g1"] }
            let other = try world.app(world.client("tablet")).chat("grace")
            try await until { isFresh(other.messages.phase) && other.messages.items.count == 1 }
            #expect(other.messages.items.map(\.value.id) == ["g1"])
            // The reads are the message, the mark, one for the listener, and two of the chat for
            // the rules, which check its members.
            #expect(world.reads("tablet") <= 5, "of \(ChatsProject.messages) messages")
        }
    }

    @Test func `of a person of one device asks for no mark, and is cleared there alone`()
        async throws
    {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            var app = try world.app(world.client())
            app.sharesClears = false
            let chat = try app.chat("grace")
            try await until { isFresh(chat.messages.phase) && chat.messages.items.count == 50 }
            await chat.clear()
            try await until { chat.messages.items.isEmpty }
            #expect(chat.problem == nil)
            let other = try world.app(world.client("tablet")).chat("grace")
            try await until { isFresh(other.messages.phase) && other.messages.items.count == 50 }
        }
    }

    @Test func `shows what is sent offline at once, and sends it`() async throws {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            let client = try world.client()
            let chat = try world.app(client).chat("alan")
            try await until { isFresh(chat.messages.phase) && chat.messages.items.count == 4 }
            await client.disableNetwork()
            world.local.advance(by: .seconds(1))
            await chat.send("On my way")
            // The message is either outgoing or a waiting row. It is shown once, beside the four
            // others.
            let rows = chat.messages.items
            let waiting = rows.filter(\.hasPendingWrites).map(\.value.text)
            #expect(chat.outgoing.map(\.text) + waiting == ["On my way"])
            #expect(rows.count + chat.outgoing.count == 5 && chat.problem == nil)
            await client.enableNetwork()
            try await until {
                let items = chat.messages.items
                return items.count == 5 && items.first?.hasPendingWrites == false
            }
            #expect(chat.messages.items.first?.value.text == "On my way")
            #expect(chat.outgoing.isEmpty && chat.problem == nil)
        }
    }
}

@MainActor @Suite(.timeLimit(.minutes(2))) struct `A chat that is read ahead` {
    private func isFresh(_ phase: FeedPhase) -> Bool {
        if case .fresh = phase { true } else { false }
    }

    @Test func `costs one read when it is opened`() async throws {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            let clock = ManualClock()
            var app = try world.app(world.client())
            app.clock = clock
            let start = world.local.now
            app.now = { start.advanced(by: clock.now.time) }
            app.sharesClears = false
            var chat: ChatModel? = try app.chat("grace")
            try await until { isFresh(chat!.messages.phase) }
            chat = nil
            var predictor = PrefetchPredictor(timeZone: .gmt)
            let usual = start.advanced(by: .seconds(7_200))
            for day in 1...7 {
                predictor.opened("grace", at: usual.advanced(by: .seconds(-86_400 * day)))
            }
            let prefetcher = app.readingAhead(predictor)
            await prefetcher.setEnabled(true)
            await clock.sleepers()
            world.local.advance(by: .seconds(3_600))
            try await world.project.write("news", by: "Grace", id: "g1")
            world.local.advance(by: .seconds(3_000))
            clock.advance(by: .seconds(6_600))
            await clock.sleepers()
            let ahead = world.reads(Prefetcher.label)
            #expect((1...3).contains(ahead), "\(ahead)")
            clock.advance(by: .seconds(600))
            world.local.advance(by: .seconds(600))
            await prefetcher.opened("grace")
            let before = world.reads()
            let opened = try app.chat("grace")
            try await until { isFresh(opened.messages.phase) }
            #expect(opened.messages.items.first?.value.id == "g1")
            // The rules read the chat too.
            #expect(world.reads() - before <= 2, "\(world.reads() - before)")
            let ledger = await prefetcher.ledger
            #expect(ledger.hits == 1 && ledger.misses == 0)
            await prefetcher.setEnabled(false)
        }
    }
}

@MainActor @Suite(.timeLimit(.minutes(2))) struct `Documents of which there is one` {
    private func write(_ state: String, _ single: ChatsApp.Single, _ world: ChatsWorld) async throws
    {
        try await world.project.firestore.document("users/ada/state/\(single.rawValue)").setData([
            "state": state, "updatedAt": FieldValue.serverTimestamp(),
        ])
    }

    @Test func `are read once, stand on the device, and change with their values`() async throws {
        try await ChatsWorld.run { world in
            try await write("quiet", .call, world)
            try await write("gold", .subscription, world)
            let first = try world.client()
            let states = world.app(first).states()
            #expect(states.rows.allSatisfy { $0.state == .unknown } && states.problem == nil)
            try await until { states.isFresh }
            #expect(states.state(of: .call) == .value(SingleState("quiet")))
            #expect(states.state(of: .game) == .missing)
            let before = world.reads()
            #expect(before <= ChatsApp.Single.allCases.count)
            try await write("quiet", .call, world)
            try await write("ringing", .call, world)
            try await until { states.state(of: .call).value?.state == "ringing" }
            #expect((1...2).contains(world.reads() - before))
            await first.terminate()
            let second = try world.client()
            await second.disableNetwork()
            let again = world.app(second).states()
            try await until { again.state(of: .subscription).value?.state == "gold" }
            #expect(!again.isFresh && again.rows.map(\.id) == ChatsApp.Single.allCases)
        }
    }

    @Test func `that may not be read say so`() async throws {
        try await ChatsWorld.run(isRefused: true) { world in
            let other = ChatsApp(try world.client(), me: "grace")
            let states = other.states()
            try await until { states.problem != nil }
            #expect(states.problem == "You don't have permission to do this.")
            states.retry()
            #expect(states.problem == nil)
        }
    }
}

@MainActor @Suite(.timeLimit(.minutes(2))) struct `A message that is refused` {
    @Test func `is undone, and the person is told`() async throws {
        try await ChatsWorld.run(isRefused: true) { world in
            try await world.project.seed()
            let chat = try world.app(world.client()).chat("gone")
            await chat.send("Hello?")
            try await until { chat.problem != nil }
            #expect(chat.outgoing.isEmpty)
            #expect(chat.problem == "You don't have permission to do this.")
        }
    }
}

@MainActor @Suite(.timeLimit(.minutes(2))) struct `People` {
    @Test func `who are blocked are read once, and shown live`() async throws {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            let app = world.app(try world.client())
            let blocked = try app.blocked()
            try await until { blocked.phase == .fresh && blocked.entries.map(\.id) == ["mallory"] }
            world.local.advance(by: .seconds(600))
            let first = world.reads()
            try await blocked.block("malcolm")
            try await until { blocked.entries.count == 2 && blocked.isBlocked("malcolm") }
            try await blocked.unblock("mallory")
            try await until { blocked.entries.map(\.id) == ["malcolm"] }
            // The listener reports both writes, and Malcolm's details are read.
            try await until("both writes are billed") { world.reads() >= first + 3 }
            // Another device of the user blocks somebody.
            let before = world.reads()
            #expect(before == first + 3)
            world.local.advance(by: .seconds(1))
            try await world.project.firestore.document("users/ada/blocked/grace").setData([
                "blockedAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ])
            try await until { blocked.entries.map(\.id) == ["grace", "malcolm"] }
            try await until { blocked.entries.first?.detail?.document?.get("name") != nil }
            #expect(world.reads() - before == 2, "the entry, and its details")
        }
    }

    @Test func `are found as their names are typed, without asking twice`() async throws {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            let search = try world.app(world.client()).search()
            search.text = "mal"
            await world.clock.pass(search.debounce)
            try await until { search.documents.count == 2 }
            let before = world.reads()
            search.text = "malc"
            #expect(search.documents.map(\.documentID) == ["malcolm"], "of what is known")
            search.text = "mal"
            #expect(search.documents.count == 2 && world.reads() == before)
        }
    }
}
