import ExampleKit
import ExampleTesting
import Tidemark
import TidemarkTesting

@testable import MessagesCore

/// A server with the app's rules, the users around a phone, and phones.
@MainActor struct MessagesWorld: ExampleWorld {
    static let example = Example.messages

    let world: PhoneWorld
    let project: MessagesProject

    init() throws {
        world = try PhoneWorld(.messages)
        project = MessagesProject(try world.project())
    }

    func app(_ firestore: Firestore) -> MessagesApp {
        var app = MessagesApp(firestore, me: world.user.id)
        app.clock = clock
        app.now = { [local] in local.now }
        return app
    }
}
