import ExampleKit
import ExampleTesting
import Tidemark
import TidemarkTesting

@testable import ChatsCore

/// A server with the app's rules, the users around a phone, and phones.
@MainActor struct ChatsWorld: ExampleWorld {
    static let example = Example.chats

    let world: PhoneWorld
    let project: ChatsProject

    init() throws {
        world = try PhoneWorld(.chats)
        project = ChatsProject(try world.project())
    }

    func app(_ firestore: Firestore) -> ChatsApp {
        var app = ChatsApp(firestore, me: world.user.id)
        app.now = { [local] in local.now }
        app.clock = clock
        return app
    }

    /// Writes `count` messages of Grace, one second apart, the last one ten minutes ago.
    func write(_ count: Int, to chat: String) async throws {
        let messages = project.firestore.collection("chats/\(chat)/messages")
        let end = local.now.advanced(by: .seconds(-600))
        for first in stride(from: 0, to: count, by: 500) {
            let batch = project.firestore.batch()
            for number in first..<min(count, first + 500) {
                var message = ChatMessage(
                    author: "Grace", text: "Line \(number + 1)",
                    sentAt: end.advanced(by: .seconds(number - count)))
                message.updatedAt = message.sentAt
                try batch.setData(from: message, forDocument: messages.document("l\(number)"))
            }
            try await batch.commit()
        }
    }
}
