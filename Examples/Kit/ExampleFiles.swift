/// The `firestore.rules` of an example app, as deployed.
public enum ExampleRules: String, Sendable {
    case chats, health, homes, messages, stamps

    public var text: String {
        let bytes =
            switch self {
            case .chats: PackageResources.chats_rules
            case .health: PackageResources.health_rules
            case .homes: PackageResources.homes_rules
            case .messages: PackageResources.messages_rules
            case .stamps: PackageResources.stamps_rules
            }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The `firestore.indexes.json` of an example app, as deployed.
public enum ExampleIndexes: String, Sendable {
    case messages

    public var text: String {
        switch self {
        case .messages: String(decoding: PackageResources.messages_indexes_json, as: UTF8.self)
        }
    }
}
