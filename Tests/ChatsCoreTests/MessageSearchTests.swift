import ExampleTesting
import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkTesting

@testable import ChatsCore

@MainActor @Suite(.timeLimit(.minutes(2))) struct `A search in the messages of the device` {
    @Test func `finds words of all chats without a network, and one's own new messages`()
        async throws
    {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            try await world.write(30, to: "grace")
            let app = try world.app(world.client())
            let chat = try app.chat("grace")
            try await until { chat.messages.items.count >= 30 }
            await app.firestore.disableNetwork()
            let reads = world.reads()
            let model = app.messageSearch()
            await chat.send("The Café at the harbour")
            model.search("harb")
            try await until { model.found.count == 1 }
            #expect(model.found.first?.chat == "grace")
            #expect(model.found.first?.message.text == "The Café at the harbour")
            model.search("-\"CAFE")
            model.search("CAFE the")
            try await until { model.found.count == 1 && model.problem == nil }
            model.search("zebra")
            try await until { model.found.isEmpty }
            let text = try #require(chat.messages.items.last?.value.text)
            model.search(text)
            try await until { !model.found.isEmpty }
            #expect(model.found.count <= MessageSearchModel.limit && model.problem == nil)
            #expect(world.reads() == reads)
        }
    }
}
