/// Decides whether the documents of a store may go to a user.
enum TakeOverVerdict {
    /// The documents that the closure accepts may be taken; all if there is none.
    case take(where: (@Sendable (DocumentPath) -> Bool)?)
    case refuse(CacheTakeOver.Refusal)

    /// - Parameters:
    ///   - traces: The users who have left traces in the store; empty text for writes without a
    ///     user.
    ///   - user: The signed-in user; nil for none.
    init(_ documents: CacheTakeOver.Documents, traces: Set<ByteString>, user: String?) {
        switch documents {
        case .none: self = .refuse(.notWanted)
        case .all: self = .take(where: nil)
        case .matching(let accepts): self = .take(where: accepts)
        case .ofOnlyUser:
            let nobody = ByteString("")
            let own = ByteString(user ?? "")
            // Writes that were made before the sign-in are no other user's.
            if !traces.subtracting([own, nobody]).isEmpty {
                self = .refuse(.otherUsers)
            } else if traces.contains(own) {
                self = .take(where: nil)
            } else {
                self = .refuse(.unknownOwner)
            }
        }
    }
}

extension CacheTakeOver.Refusal {
    /// The sentence in the language of the app.
    public var message: String { sentence.localized() }

    /// A sentence for the person who uses the app. It names no type, code or path.
    public var sentence: Sentence {
        switch self {
        case .notWanted, .takenBefore:
            Sentence("moving.taken", "What was on this device before the update is here.")
        case .otherUsers, .unknownOwner:
            Sentence(
                "moving.owner",
                "What was on this device before the update is loaded again, because it may belong "
                    + "to somebody else.")
        case .otherDatabase, .unknownVersion, .unreadable:
            Sentence(
                "moving.again",
                "What was on this device before the update can't be used and is loaded again.")
        }
    }
}
