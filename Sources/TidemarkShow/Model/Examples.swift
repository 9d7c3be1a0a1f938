import ChatsCore
import ExampleKit
import HealthCore
import HomesCore
import MessagesCore
import StampsCore

/// The apps that can be shown.
enum Examples {
    static let all: [Example] = [.stamps, .chats, .health, .messages, .homes]

    static func named(_ name: String) -> Example? { all.first { $0.name == name } }
}

extension Example {
    /// Its `firestore.rules`, as they are deployed.
    var rules: String {
        let bytes: [UInt8]
        switch name {
        case "chats": bytes = PackageResources.chats_rules
        case "health": bytes = PackageResources.health_rules
        case "homes": bytes = PackageResources.homes_rules
        case "messages": bytes = PackageResources.messages_rules
        case "stamps": bytes = PackageResources.stamps_rules
        default: preconditionFailure("\(name) has no rules")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Example {
    var shown: ShowState.App {
        ShowState.App(
            name: name, title: title, problem: problem, promise: promise,
            acts: secondDevice.map { ShowState.Named(id: $0.id, title: $0.title) })
    }
}
