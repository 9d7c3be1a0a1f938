import ArgumentParser

/// A version of the day's app. Each version on Tidemark has one service more than the version
/// before it, so the difference of their figures is the cost of the service.
enum DayVersion: String, CaseIterable, Sendable, ExpressibleByArgument {
    /// The app as it was.
    case before
    /// A process that does nothing.
    case process
    /// The app opens its cache and loads its session. It shows nothing.
    case signIn = "sign-in"
    /// A launch reads the changes of the chat, and shows the chat.
    case feed
    /// The chat on the screen listens.
    case listener
    /// The user's devices share the marks. Each shown message moves the mark of what was seen.
    case marks
    /// Each message has a picture.
    case pictures

    /// The version that is compared with the app as it was, which has no more services.
    static let after = listener
    static let onTidemark: [DayVersion] = [
        .process, .signIn, .feed, .listener, .marks, .pictures,
    ]

    var side: Side { self == .before ? .before : .after }

    /// The label under which the version's reads are billed.
    var label: String { "day-\(rawValue)" }

    /// True if this version has a service on Tidemark.
    func has(_ service: DayVersion) -> Bool {
        guard let own = Self.onTidemark.firstIndex(of: self),
            let other = Self.onTidemark.firstIndex(of: service)
        else { return false }
        return own >= other
    }

    /// True if the version shows the messages of the chat.
    var showsMessages: Bool { self == .before || has(.feed) }
    /// True if the version shows a message that arrives.
    var isLive: Bool { self == .before || has(.listener) }

    /// The service that this version adds.
    var service: String {
        switch self {
        case .before: "the app as it was"
        case .process: "process"
        case .signIn: "sign-in"
        case .feed: "feed"
        case .listener: "listener"
        case .marks: "shared marks"
        case .pictures: "pictures"
        }
    }
}
