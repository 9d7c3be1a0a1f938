import ChatsCore
package import ExampleKit
import HealthCore
import HomesCore
import MessagesCore
import StampsCore

/// The apps that can be shown.
package enum Examples {
    package static let all: [Example] = [.stamps, .chats, .health, .messages, .homes]

    package static func named(_ name: String) -> Example? { all.first { $0.name == name } }
}

extension Example {
    /// Its `firestore.rules`, as they are deployed.
    package var rules: String {
        guard let rules = ExampleRules(rawValue: name) else {
            preconditionFailure("\(name) has no rules")
        }
        return rules.text
    }
}

/// Which of an example's two apps.
package enum PhoneSide: String, Codable, CaseIterable, Sendable {
    case before, after
}
