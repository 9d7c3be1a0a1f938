import ExampleKit
import ExampleTesting
import Foundation
import Testing
import Tidemark
import TidemarkApp
import TidemarkModel
import TidemarkRules
import TidemarkServer
import TidemarkTesting

@testable import ChatsCore

@MainActor @Suite(.timeLimit(.minutes(2))) struct `Chats on a phone` {
    @Test(arguments: [true, false])
    func `show the chats of a full read with their badges`(isAfter: Bool) async throws {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            let phone = try world.phone(isAfter: isAfter, try world.client())
            var truth = try await world.project.chats()
            let state: Screen.State = isAfter ? .fresh : .quiet
            let first = try await screen(phone) {
                $0.state == state && $0.documents == truth && $0.title == "Chats"
            }
            #expect(first.rows.allSatisfy { $0.badge == nil })
            world.local.advance(by: .seconds(1))
            try await world.project.write("News", by: "Alan", id: "a1")
            truth = try await world.project.chats()
            let second = try await screen(phone) {
                $0.documents == truth && $0.title == "Chats (1)"
            }
            #expect(second.rows.first?.id == "alan" && second.rows.first?.badge == "1")
            await phone.tap("alan", "")
            let messages = try await world.project.messages(of: "alan")
            _ = try await screen(phone) { $0.title == "Alan" && $0.documents == messages }
            await phone.tap("back", "")
            _ = try await screen(phone) { $0.title == "Chats" && $0.documents == truth }
            await phone.close()
        }
    }

    /// Opens a chat of 300 messages again, with five new ones. The journey measures these reads.
    @Test func `open a chat again for what is new; before, for all of it`() async throws {
        var reads: [Bool: Int] = [:]
        for isAfter in [true, false] {
            try await ChatsWorld.run { world in
                try await world.project.seed()
                let first = try world.client()
                let before = try world.phone(isAfter: isAfter, first)
                _ = try await screen(before) { $0.documents.contains("grace") }
                await before.tap("grace", "")
                _ = try await screen(before) { $0.title == "Grace" && $0.documents.last == "m299" }
                await before.close()
                // This is longer than the time for which the server remembers a listener's result.
                world.local.advance(by: .seconds(86_400))
                for number in 0..<5 {
                    world.local.advance(by: .seconds(1))
                    try await world.project.write("New \(number)", by: "Grace", id: "x\(number)")
                }
                let billed = world.reads()
                let again = try world.phone(isAfter: isAfter, try world.client())
                _ = try await screen(again) { $0.documents.contains("grace") }
                await again.tap("grace", "")
                _ = try await screen(again) { $0.title == "Grace" && $0.documents.last == "x4" }
                reads[isAfter] = world.reads() - billed
                await again.close()
            }
        }
        // The reads are the new messages, one chat, two documents, and one per call.
        #expect(try #require(reads[true]) <= 12)
        #expect(try #require(reads[false]) >= ChatsProject.messages)
    }

    @Test func `clear all notifications for good; before, all of them are read again`() async throws
    {
        for isAfter in [true, false] {
            try await ChatsWorld.run { world in
                try await world.project.seed()
                let client = try world.client()
                let phone = try world.phone(isAfter: isAfter, client)
                _ = try await screen(phone) { $0.documents.count == 6 }
                await phone.tap("notices", "")
                _ = try await screen(phone) { $0.documents.count >= 50 }
                world.local.advance(by: .seconds(1))
                await phone.tap("clear", "")
                _ = try await screen(phone) { $0.title == "Notifications" && $0.documents.isEmpty }
                await phone.tap("back", "")
                world.local.advance(by: .seconds(86_400))
                try await world.project.notify("Again", id: "new")
                let billed = world.reads()
                await phone.tap("notices", "")
                _ = try await screen(phone) { $0.documents == ["new"] }
                let reads = world.reads() - billed
                #expect(isAfter ? reads <= 3 : reads >= 1, "\(isAfter): \(reads)")
                await phone.close()
            }
        }
    }

    @Test func `find, block and unblock people`() async throws {
        try await ChatsWorld.run { world in
            try await world.project.seed()
            let phone = try world.phone(try world.client())
            _ = try await screen(phone) { $0.documents.count == 6 }
            await phone.tap("search", "")
            await phone.tap("name", "malc")
            await world.clock.pass(.milliseconds(250))
            _ = try await screen(phone) { $0.title == "Search" && $0.documents == ["malcolm"] }
            await phone.tap("malcolm", "")
            let blocked = try await screen(phone) {
                $0.title == "Blocked" && Set($0.documents) == ["malcolm", "mallory"]
                    && $0.state == .fresh
            }
            #expect(blocked.rows.map(\.title).sorted() == ["Malcolm", "Mallory"])
            await phone.tap("mallory", "")
            _ = try await screen(phone) { $0.documents == ["malcolm"] }
            await phone.close()
        }
    }
}

/// Tests the deployed files `firestore.rules` and `firestore.indexes.json`.
@MainActor @Suite(.timeLimit(.minutes(2))) struct `The files of Chats` {
    @Test func `have the index of each query`() async throws {
        var configuration = FirestoreServer.Configuration()
        configuration.indexes = IndexSettings(
            try IndexConfiguration(json: try exampleFile("Chats/firestore.indexes.json")))
        let local = try LocalFirestore.start(configuration: configuration)
        let app = ChatsApp(try local.firestore(), me: "ada")
        for definition in [app.chatList, app.messages(of: "grace")] {
            let feed = try Feed(definition)
            try await feed.sync()
            try await feed.sync()
        }
        #expect(try await app.blockedUsers().sync().detailsError == nil)
        await local.stop()
    }

    @Test func `let in those who take part, and nobody else`() throws {
        let now = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)
        var rules = try RulesSandbox(ExampleRules.chats.text, at: now)
        let chat = MapValue([
            ("members", .array([.string("ada"), .string("grace")])), ("updatedAt", .timestamp(now)),
        ])
        rules["chats/blue"] = chat
        func message(by author: String) -> MapValue {
            MapValue([
                ("author", .string(author)), ("text", .string("Hello")),
                ("sentAt", .timestamp(now)),
                ("updatedAt", .timestamp(now)),
            ])
        }
        let path = "chats/blue/messages/m1"
        #expect(rules.allows(.get("chats/blue"), as: .user("ada")))
        #expect(!rules.allows(.get("chats/blue"), as: .user("mallory")))
        #expect(rules.allows(.set(path, message(by: "ada")), as: .user("ada")))
        #expect(!rules.allows(.set(path, message(by: "grace")), as: .user("ada")), "in her name")
        #expect(!rules.allows(.set(path, message(by: "mallory")), as: .user("mallory")))
        rules["users/ada/state/seen"] = MapValue()
        rules["users/ada/blocked/mallory"] = MapValue()
        rules["users/ada/notifications/n1"] = MapValue()
        rules["users/ada"] = MapValue([("name", .string("Ada"))])
        for own in ["state/seen", "blocked/mallory", "notifications/n1"] {
            #expect(rules.allows(.get("users/ada/" + own), as: .user("ada")), "\(own)")
            #expect(!rules.allows(.get("users/ada/" + own), as: .user("grace")), "\(own)")
        }
        #expect(rules.allows(.get("users/ada"), as: .user("grace")))
        #expect(!rules.allows(.set("users/ada", MapValue()), as: .user("grace")))
        #expect(!rules.allows(.get("users/ada"), as: .nobody))
    }
}
