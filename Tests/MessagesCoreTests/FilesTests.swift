import ExampleKit
import ExampleTesting
import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkModel
import TidemarkRules
import TidemarkServer
import TidemarkTesting

@testable import MessagesCore

/// Tests the deployed files `firestore.rules` and `firestore.indexes.json`.
@MainActor @Suite(.timeLimit(.minutes(2))) struct `The files of Messages` {
    @Test func `have the index of each query`() async throws {
        var configuration = FirestoreServer.Configuration()
        configuration.indexes = IndexSettings(
            try IndexConfiguration(json: try exampleFile("Messages/firestore.indexes.json")))
        let local = try LocalFirestore.start(configuration: configuration)
        let app = MessagesApp(try local.firestore(), me: "ada")
        let id = try await app.begin("Grace", with: ["grace"])
        let list = try app.conversations()
        try await until { list.phase == .fresh && list.items.count == 1 }
        let model = try app.conversation(id)
        await model.send("Hello")
        try await until { model.messages.phase == .fresh && model.messages.items.count == 1 }
        await model.refresh()
        #expect(
            list.pages.error == nil && model.messages.pages.error == nil && model.problem == nil)
        await local.stop()
    }

    @Test func `let in those who take part, and nobody else`() throws {
        let now = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)
        var rules = try RulesSandbox(ExampleRules.messages.text, at: now)
        let members = Value.array([.string("ada"), .string("grace")])
        let conversation = MapValue([("members", members), ("updatedAt", .timestamp(now))])
        rules["conversations/blue"] = conversation
        func message(by author: String, text: String = "Hello") -> MapValue {
            MapValue([
                ("conversationId", .string("blue")), ("author", .string(author)),
                ("text", .string(text)), ("timestamp", .timestamp(now)),
                ("updatedAt", .timestamp(now)),
            ])
        }
        let path = "messages/m1"
        #expect(rules.allows(.get("conversations/blue"), as: .user("ada")))
        #expect(!rules.allows(.get("conversations/blue"), as: .user("mallory")))
        #expect(!rules.allows(.get("conversations/blue"), as: .nobody))
        #expect(rules.allows(.set(path, message(by: "ada")), as: .user("ada")))
        #expect(!rules.allows(.set(path, message(by: "grace")), as: .user("ada")), "in her name")
        #expect(!rules.allows(.set(path, message(by: "mallory")), as: .user("mallory")))
        let long = String(repeating: "x", count: 4_001)
        #expect(!rules.allows(.set(path, message(by: "ada", text: long)), as: .user("ada")))
        rules[path] = message(by: "ada")
        #expect(rules.allows(.get(path), as: .user("grace")))
        #expect(!rules.allows(.get(path), as: .user("mallory")))
        var marked = message(by: "ada")
        marked["deletedAt"] = .timestamp(now)
        #expect(rules.allows(.set(path, marked), as: .user("ada")))
        #expect(!rules.allows(.set(path, marked), as: .user("grace")), "another's message")
        #expect(!rules.allows(.delete(path), as: .user("ada")), "a mark tells the other devices")
        let more = MapValue([
            ("members", .array([.string("ada"), .string("mallory")])),
            ("updatedAt", .timestamp(now)),
        ])
        #expect(!rules.allows(.set("conversations/blue", more), as: .user("ada")))
        #expect(rules.allows(.list(try queries().mine), as: .user("ada")))
        #expect(!rules.allows(.list(try queries().mine), as: .user("grace")))
        #expect(rules.allows(.list(try queries().messages), as: .user("grace")))
        #expect(!rules.allows(.list(try queries().messages), as: .user("mallory")))
    }

    private func queries() throws -> (mine: TidemarkModel.Query, messages: TidemarkModel.Query) {
        let firestore = try LocalFirestore.start().firestore()
        return (
            try firestore.collection("conversations").whereField("members", arrayContains: "ada")
                .runnable(),
            try firestore.document("conversations/blue").messages.runnable()
        )
    }
}
