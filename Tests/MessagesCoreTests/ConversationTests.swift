import ExampleTesting
import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkResilience
import TidemarkRules
import TidemarkServer
import TidemarkTesting

@testable import MessagesCore

@MainActor @Suite(.timeLimit(.minutes(2))) struct `A conversation` {
    private func ids(_ model: ConversationModel) -> [String] {
        model.messages.items.compactMap(\.id)
    }

    @Test func `pages to its first message while others write, edit and delete`() async throws {
        try await MessagesWorld.run { world in
            try await world.project.seed()
            let model = try world.app(world.client()).conversation("blue")
            try await until { model.messages.phase == .fresh }
            #expect(model.messages.items.count == 50 && world.reads() <= 51)
            var acts = 0
            while model.messages.hasMore {
                try await world.project.act(acts)
                acts += 1
                let count = model.messages.items.count
                model.messages.loadMore()
                model.messages.loadMore()
                try await until {
                    !model.messages.pages.isLoadingMore
                        && (model.messages.items.count > count || !model.messages.hasMore)
                }
            }
            #expect(acts >= 7, "pages of 50")
            let truth = try await world.project.messages(of: "blue")
            await model.refresh()
            try await until { ids(model) == truth }
            #expect(model.problem == nil && truth.count > MessagesProject.count)
            model.close()
        }
    }

    @Test func `is loading, then fresh; and says that nobody has written`() async throws {
        // The rules refuse a read before the conversation itself has reached the server.
        try await MessagesWorld.run(isRefused: true) { world in
            let client = try world.client()
            let app = world.app(client)
            let id = try await app.begin("Grace", with: ["grace"])
            let model = try app.conversation(id)
            #expect(model.messages.phase == .loading)
            try await until { model.messages.phase == .fresh }
            #expect(model.messages.items.isEmpty && !model.messages.hasMore)
            await model.send("Hello")
            try await until { model.messages.items.first?.isWaiting == false }
            #expect(model.messages.items.map(\.text) == ["Hello"])
            model.close()
        }
    }

    @Test func `that was begun offline is fresh once its write is sent`() async throws {
        // Twenty other writes come first, so the messages are read before the server has the
        // conversation.
        try await MessagesWorld.run(isRefused: true) { world in
            let client = try world.client()
            let app = world.app(client)
            await client.disableNetwork()
            for number in 0..<20 { _ = try await app.begin("\(number)", with: ["bob"]) }
            let model = try app.conversation(try await app.begin("Grace", with: ["grace"]))
            await client.enableNetwork()
            try await until { model.messages.phase == .fresh }
            #expect(model.messages.items.isEmpty)
            model.close()
        }
    }

    @Test func `of others is asked for once more, and then has failed`() async throws {
        try await MessagesWorld.run(isRefused: true) { world in
            try await world.local.firestore(label: "project", token: "owner")
                .document("conversations/theirs").setData(["members": ["grace", "bob"]])
            let model = try world.app(try world.client()).conversation("theirs")
            try await until { world.local.rules.refusals.count == 2 }
            try await until {
                guard case .failed(let error) = model.messages.phase else { return false }
                return error.code == .permissionDenied
            }
            #expect(world.local.rules.refusals.count == 2)
            model.close()
        }
    }

    @Test func `without a network is what the device holds, and says as of when`() async throws {
        try await MessagesWorld.run { world in
            try await world.project.seed()
            let first = try world.client()
            let read = world.local.now
            var model = try world.app(first).conversation("blue")
            try await until { model.messages.phase == .fresh }
            let held = ids(model)
            await first.disableNetwork()
            world.local.advance(by: .seconds(60))
            try await until { if case .stale = model.messages.phase { true } else { false } }
            guard case .stale(let since?) = model.messages.phase else {
                Issue.record("\(model.messages.phase)")
                return
            }
            #expect(since >= read && since < world.local.now)
            model.close()
            await first.terminate()
            world.local.advance(by: .seconds(3_600))
            let second = try world.client()
            await second.disableNetwork()
            model = try world.app(second).conversation("blue")
            try await until { !model.messages.items.isEmpty }
            #expect(ids(model) == held)
            #expect(model.messages.phase == .stale(since: nil))
            await second.enableNetwork()
            try await until { model.messages.phase == .fresh }
            model.close()
        }
    }

    @Test func `that the device knows nothing of has a way out after ten seconds`() async throws {
        try await MessagesWorld.run { world in
            try await world.project.seed()
            let client = try world.client()
            await client.disableNetwork()
            let model = try world.app(client).conversation("blue")
            #expect(model.messages.phase == .loading)
            await world.clock.sleepers(1)
            world.clock.advance(by: .seconds(10))
            try await until { model.messages.phase != .loading }
            guard case .failed(let error) = model.messages.phase else {
                Issue.record("\(model.messages.phase)")
                return
            }
            #expect(error.recovery == .waitForNetwork)
            await client.enableNetwork()
            model.messages.tryAgain()
            try await until { model.messages.phase == .fresh }
            model.close()
        }
    }

    @Test func `keeps what is sent offline, in order, over a launch, and sends it once`()
        async throws
    {
        try await MessagesWorld.run { world in
            try await world.project.seed()
            let first = try world.client()
            var model = try world.app(first).conversation("blue")
            try await until { model.messages.phase == .fresh }
            await first.disableNetwork()
            for text in ["one", "two", "three"] {
                world.local.advance(by: .seconds(1))
                await model.send(text)
            }
            try await until { model.messages.items.suffix(3).allSatisfy(\.isWaiting) }
            #expect(model.messages.items.suffix(3).map(\.text) == ["one", "two", "three"])
            model.close()
            await first.terminate()

            let second = try world.client()
            model = try world.app(second).conversation("blue")
            try await until { model.messages.items.last.map { !$0.isWaiting } ?? false }
            try await second.waitForPendingWrites()
            try await until {
                model.messages.phase == .fresh && model.messages.items.allSatisfy { !$0.isWaiting }
            }
            #expect(model.messages.items.suffix(3).map(\.text) == ["one", "two", "three"])
            let truth = try await world.project.messages(of: "blue")
            #expect(truth.count == MessagesProject.count + 3)
            #expect(ids(model) == truth.suffix(ids(model).count))
            model.close()
        }
    }

    @Test func `gets a reply that does not open it, also without a network`() async throws {
        try await MessagesWorld.run { world in
            try await world.project.seed()
            let client = try world.client()
            let app = world.app(client)
            await client.disableNetwork()
            let receipt = try await app.reply("On my way", in: "blue")
            await client.enableNetwork()
            try await receipt.acknowledged()
            #expect(world.reads() == 1, "the rules look who takes part")
            let model = try app.conversation("blue")
            try await until { model.messages.phase == .fresh }
            #expect(model.shown.last?.text == "On my way" && model.shown.last?.author == "ada")
            model.close()
            let list = try app.conversations()
            try await until { list.phase == .fresh }
            #expect(list.items.last?.lastText == "On my way")
            list.close()
        }
    }

    @Test func `hides what is deleted, here and on a device that holds its page`() async throws {
        try await MessagesWorld.run { world in
            try await world.project.seed()
            let first = try world.client()
            var model = try world.app(first).conversation("blue")
            try await until { model.messages.phase == .fresh }
            await model.delete("m399")
            try await until { !ids(model).contains("m399") }
            model.close()
            await first.terminate()
            try await world.project.firestore.document("messages/m360").updateData([
                "deletedAt": FieldValue.serverTimestamp(),
                "updatedAt": FieldValue.serverTimestamp(),
            ])
            model = try world.app(world.client()).conversation("blue")
            try await until { model.messages.phase == .fresh && !ids(model).contains("m360") }
            #expect(!ids(model).contains("m399"))
            model.close()
        }
    }

    @Test func `keeps what the server refused until the person decides`() async throws {
        try await MessagesWorld.run(isRefused: true) { world in
            try await world.project.seed()
            let client = try world.client()
            let model = try world.app(client).conversation("blue")
            try await until { model.messages.phase == .fresh }
            world.local.server.setRules(RulesSettings(try Ruleset(Self.readOnly)))
            world.local.advance(by: .seconds(1))
            await model.send("refused")
            world.local.advance(by: .seconds(1))
            await model.send("refused too")
            // The stream waits between two refusals.
            try await until {
                world.local.advance(by: .seconds(1))
                return model.refused.count == 2
            }
            #expect(model.refused.map(\.value.text) == ["refused", "refused too"])
            #expect(
                model.refused[0].failure?.message == "You don't have permission to do this.")
            #expect(!model.shown.contains { $0.text.hasPrefix("refused") }, "it is undone")
            #expect(model.rows.suffix(2).map(\.isFailed) == [true, true], "at their places")
            await model.discard(model.refused[1])
            try await until { model.refused.count == 1 }
            world.local.server.setRules(nil)
            await model.sendAgain(model.refused[0])
            try await until { model.refused.isEmpty }
            try await until {
                world.local.advance(by: .seconds(1))
                return model.messages.items.last.map { $0.text == "refused" && !$0.isWaiting }
                    ?? false
            }
            model.close()
        }
    }

    @Test func `loads older pages as its rows appear, and marks what waits to be sent`()
        async throws
    {
        try await MessagesWorld.run { world in
            try await world.project.seed()
            let client = try world.client()
            let model = try world.app(client).conversation("blue")
            try await until { model.messages.phase == .fresh && model.rows.count == 50 }
            model.loadMoreIfNeeded(at: model.rows[30])
            #expect(!model.messages.pages.isLoadingMore, "far from the oldest row")
            model.loadMoreIfNeeded(at: model.rows[3])
            try await until { model.rows.count == 100 && !model.messages.pages.isLoadingMore }
            await client.disableNetwork()
            world.local.advance(by: .seconds(1))
            await model.send("Later")
            try await until { model.rows.last?.isPending == true }
            #expect(model.rows.last?.value.text == "Later" && model.rows.count == 101)
            await client.enableNetwork()
            try await until {
                world.local.advance(by: .seconds(1))
                return model.rows.last?.delivery == .delivered
            }
            model.close()
        }
    }

    private static let readOnly = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            match /{document=**} { allow read: if true; allow write: if false; }
          }
        }
        """

    @Test func `says in a sentence why a refresh failed, and asks the server no more than it may`()
        async throws
    {
        try await MessagesWorld.run { world in
            try await world.project.seed()
            let client = try world.client()
            let model = try world.app(client).conversation("blue")
            try await until { model.messages.phase == .fresh }
            await client.disableNetwork()
            model.retry.delayScale = 0.001
            await model.refresh()
            #expect(
                model.problem
                    == "The server can't be reached right now. Please try again later.")
            await client.enableNetwork()
            await model.refresh()
            #expect(model.problem == nil)
            model.close()
        }
    }
}
