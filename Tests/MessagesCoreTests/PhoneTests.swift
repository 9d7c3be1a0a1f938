import ExampleKit
import ExampleTesting
import Testing
import Tidemark
import TidemarkTesting

@testable import MessagesCore

@MainActor @Suite(.timeLimit(.minutes(2))) struct `Messages on a phone` {
    @Test(arguments: [true, false])
    func `shows the conversations of a full read, the latest first`(isAfter: Bool) async throws {
        try await MessagesWorld.run { world in
            try await world.project.seed()
            let client = try world.client()
            let phone = try world.phone(isAfter: isAfter, client)
            var truth = try await world.project.conversations()
            let state: Screen.State = isAfter ? .fresh : .quiet
            let first = try await screen(phone) { $0.state == state && $0.documents == truth }
            #expect(first.rows.first?.trailing == "Now" && truth.count == 5)
            world.local.advance(by: .seconds(1))
            try await world.project.firestore.document("conversations/alan").updateData([
                "lastText": "New", "lastMessageAt": FieldValue.serverTimestamp(),
            ])
            truth = try await world.project.conversations()
            #expect(truth.first == "alan")
            _ = try await screen(phone) { $0.documents == truth }
            await phone.close()
        }
    }

    /// The journey measures these reads: 51. The old app reads all messages, and most of them
    /// twice.
    @Test func `opens a conversation for its newest page`() async throws {
        var reads: [Bool: Int] = [:]
        for isAfter in [true, false] {
            try await MessagesWorld.run { world in
                try await world.project.seed()
                let client = try world.client()
                let phone = try world.phone(isAfter: isAfter, client)
                _ = try await screen(phone) { $0.documents.contains("blue") }
                await phone.tap("blue", "")
                let newest = try await world.project.messages(of: "blue").suffix(50)
                _ = try await screen(phone) {
                    $0.title == "Grace" && $0.documents.suffix(50) == newest
                        && $0.state == (isAfter ? .fresh : .quiet)
                }
                reads[isAfter] = world.reads()
                await phone.close()
            }
        }
        // The limit includes five conversations.
        #expect(try #require(reads[true]) <= 56)
        #expect(try #require(reads[false]) >= MessagesProject.count)
    }

    @Test func `says what became of a message that was written offline`() async throws {
        try await MessagesWorld.run { world in
            try await world.project.seed()
            let client = try world.client()
            let phone = try world.phone(client)
            _ = try await screen(phone) { $0.documents.contains("blue") }
            await phone.tap("blue", "")
            _ = try await screen(phone) { $0.title == "Grace" && $0.state == .fresh }
            await client.disableNetwork()
            world.local.advance(by: .seconds(1))
            await phone.tap("send", "On my way")
            let waiting = try await screen(phone) { $0.rows.last?.title == "On my way" }
            #expect(waiting.rows.last?.isPending == true)
            #expect(waiting.rows.last?.trailing == "Sending")
            await client.enableNetwork()
            let sent = try await screen(phone) { $0.rows.last?.isPending == false }
            #expect(sent.rows.last?.trailing == "Now")
            await phone.close()
        }
    }

    @Test func `before, a send waits for the server and the person is told nothing`() async throws {
        try await MessagesWorld.run { world in
            try await world.project.seed()
            let client = try world.client()
            let phone = try world.phone(isAfter: false, client)
            _ = try await screen(phone) { $0.documents.contains("blue") }
            await phone.tap("blue", "")
            _ = try await screen(phone) { $0.documents.count == MessagesProject.count }
            await client.disableNetwork()
            world.local.advance(by: .seconds(1))
            await phone.tap("send", "On my way")
            _ = try await screen(phone) { $0.rows.last?.title == "Sending…" }
            await client.enableNetwork()
            let end = try await screen(phone) { $0.rows.last?.title == "On my way" }
            #expect(end.documents == (try await world.project.messages(of: "blue")))
            await phone.close()
        }
    }

    @Test func `says how long ago, and goes on saying so, as the old app does`() async throws {
        for isAfter in [true, false] {
            try await MessagesWorld.run { world in
                try await world.project.seed()
                let client = try world.client()
                let phone = try world.phone(isAfter: isAfter, client)
                _ = try await screen(phone) { $0.rows.first?.trailing == "Now" }
                let reads = world.reads()
                world.local.advance(by: .seconds(7_200))
                await phone.clockChanged()
                if isAfter {
                    _ = try await screen(phone) { $0.rows.first?.trailing == "2h ago" }
                    #expect(world.reads() == reads)
                } else {
                    try await world.project.write("Later", by: "Grace")
                    let later = try await screen(phone) { $0.rows.first?.detail == "Later" }
                    #expect(later.rows.dropFirst().first?.trailing == "2h ago")
                }
                await phone.close()
            }
        }
    }

    @Test func `draws a skeleton, and a way out when nothing comes`() async throws {
        try await MessagesWorld.run { world in
            try await world.project.seed()
            let client = try world.client()
            await client.disableNetwork()
            let phone = try world.phone(client)
            let skeleton = try await screen(phone) { !$0.sections.isEmpty }
            #expect(skeleton.state == .loading && !skeleton.hasContent)
            // Two sleepers wait on the clock: the list's timeout, and the minute of the times.
            await world.clock.sleepers(2)
            world.clock.advance(by: .seconds(10))
            let failed = try await screen(phone) { $0.controls.contains { $0.id == "again" } }
            guard case .failed(_, wayOut: "again") = failed.state else {
                Issue.record("\(failed.state)")
                return
            }
            await client.enableNetwork()
            await phone.tap("again", "")
            _ = try await screen(phone) { $0.state == .fresh }
            await phone.close()
        }
    }
}
