import ChatsCore
package import ExampleKit
import HealthCore
import HomesCore
import MessagesCore
import StampsCore

/// The example apps that can be shown.
package enum Examples {
    package static let all: [Example] = [.stamps, .chats, .health, .messages, .homes, .update]

    package static func named(_ name: String) -> Example? { all.first { $0.name == name } }
}

extension Example {
    /// The example's deployed `firestore.rules`.
    package var rules: String {
        guard let rules = ExampleRules(rawValue: rulesOf ?? name) else {
            preconditionFailure("\(name) has no rules")
        }
        return rules.text
    }
}

/// The version of an example app: before or after Tidemark.
package enum PhoneSide: String, Codable, CaseIterable, Sendable {
    case before, after
}
