/// The reason why the store of FirebaseFirestore cannot be read. Nothing was changed in the store,
/// and nothing was sent.
public enum FirebaseStoreError: Error, Hashable, Sendable {
    /// There is no store in that folder: no write was ever made offline, or the store was removed.
    case notAStore(folder: String)
    /// A file cannot be opened or read; `reason` is the system's. A locked device keeps files from
    /// the app: try again later.
    case unreadable(file: String, reason: String)
    /// A file is missing, cut off or changed; `problem` describes the fault.
    case damaged(file: String, problem: String)
    /// A file has a form that FirebaseFirestore on Apple's systems does not write.
    case unknownForm(file: String, problem: String)

    /// The sentence in the language of the app.
    public var message: String { sentence.localized() }

    /// A sentence for the person who uses the app. It names no type, code or path.
    public var sentence: Sentence {
        switch self {
        case .notAStore:
            Sentence("moving.nothing", "There are no unsent changes from before the update.")
        case .unreadable:
            Sentence(
                "moving.unreadable",
                "Unsent changes from before the update can't be read right now.")
        case .damaged, .unknownForm:
            Sentence(
                "moving.damaged",
                "Changes that you made offline before the update can't be read.")
        }
    }
}

extension FirebaseStoreError {
    static func corrupted(_ file: String, _ problem: String) -> FirebaseStoreError {
        .damaged(file: file, problem: problem)
    }
}
