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
        guard let rules = ExampleRules(rawValue: name) else {
            preconditionFailure("\(name) has no rules")
        }
        return rules.text
    }
}

extension Example {
    var shown: ShowState.App {
        ShowState.App(
            name: name, title: title, problem: problem, promise: promise,
            acts: secondDevice.map { ShowState.Named(id: $0.id, title: $0.title) })
    }
}
