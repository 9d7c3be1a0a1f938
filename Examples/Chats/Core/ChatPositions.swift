import Foundation
import TidemarkApp

/// The positions at which the user has left the last hundred chats, on this device.
struct ChatPositions {
    static let limit = 100

    private let defaults: UserDefaults
    private let key: String

    init(of user: String, in defaults: UserDefaults) {
        self.defaults = defaults
        key = "positions_" + user
    }

    /// The position in a chat; nil for the newest message.
    subscript(chat: String) -> ListPosition? {
        get { all.first { $0.first == chat }?.last.flatMap(ListPosition.init) }
        nonmutating set {
            let others = all.filter { $0.first != chat }
            let own = newValue.map { [[chat, $0.rawValue]] } ?? []
            defaults.set(Array((own + others).prefix(Self.limit)), forKey: key)
        }
    }

    /// Pairs of a chat and the text of a position, the chat that was left last first.
    private var all: [[String]] { defaults.array(forKey: key) as? [[String]] ?? [] }
}
