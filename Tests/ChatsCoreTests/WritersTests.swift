import ExampleTesting
import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkTesting

@testable import ChatsCore

@MainActor @Suite(.timeLimit(.minutes(2))) struct `The people who wrote in a chat` {
    @Test func `are counted on the device, live, and without a network`() async throws {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            try await world.write(30, to: "grace")
            let app = try world.app(world.client())
            let chat = try app.chat("grace")
            try await until { chat.messages.items.count >= 30 }
            // A device without a network can read nothing.
            await app.firestore.disableNetwork()
            let hour = world.local.now.advanced(by: .seconds(-3_600))
            let model = app.writers(in: "grace", since: hour)
            try await until { model.writers.contains { $0.author == "Grace" } }
            let count = try #require(model.writers.first { $0.author == "Grace" }).messages
            #expect(count >= 30)
            await chat.send("Hello")
            try await until { model.writers.contains { $0.author == app.me } }
            #expect(model.writers.first { $0.author == "Grace" }?.messages == count)
            #expect(model.problem == nil)
            model.stop()
        }
    }
}
