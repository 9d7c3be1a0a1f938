import ExampleKit
import ExampleTesting
import Tidemark
import TidemarkTesting

@testable import ChatsCore

/// A server under the rules of the app, the people around a phone, and phones.
@MainActor struct ChatsWorld: ExampleWorld {
    static let example = Example.chats

    let world: PhoneWorld
    let town: ChatsTown

    init() throws {
        world = try PhoneWorld(.chats)
        town = ChatsTown(try world.town())
    }

    func app(_ firestore: Firestore) -> ChatsApp {
        var app = ChatsApp(firestore, me: world.user.id)
        app.now = { [local] in local.now }
        app.clock = clock
        return app
    }
}
