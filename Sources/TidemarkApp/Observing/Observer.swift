public import Tidemark

/// A receiver of what the data layer of an app does: for metrics, a log or analytics.
///
/// ```swift
/// let analytics = Observer { event in
///     Analytics.logEvent(event.name, parameters: event.parameters)
/// }
/// settings.observers = [.metrics, .log, analytics]
/// ```
///
/// A ``TidemarkStack`` tells its observers about its feeds, launches and jobs.
public struct Observer: Sendable {
    let receive: @Sendable (ObservedEvent) -> Void

    /// - Parameter receive: Called on any thread, for one event after the other of a feed. It must
    ///   not block.
    public init(_ receive: @escaping @Sendable (ObservedEvent) -> Void) { self.receive = receive }
}

/// An event of the data layer. It names no user, no document and no content.
public enum ObservedEvent: Hashable, Sendable {
    /// A feed has asked the server.
    case synced(ObservedSync)
    /// A mark of a feed moved, here or on another device of the user.
    case markMoved(ObservedMark)
    /// A launch left a state after this time.
    case launchStage(String, after: Duration)
    /// A sign-up could not create its profile: `refused` or `unreachable`.
    case profileFailed(ProfileAnswer)
}

/// A sync of a feed: the reads that it cost, and how its queries were narrowed.
public struct ObservedSync: Hashable, Sendable {
    /// The way in which the first query was narrowed.
    public enum Filter: String, Hashable, Sendable {
        /// Only the changes since the last read.
        case changes
        /// Only the items that the device does not hold.
        case items
        /// Counts and sums of held items.
        case audit
        /// Everything above the clear mark, or everything if there is no mark.
        case everything
    }

    /// The feed: the path of its query, in which `*` stands for each document, as in
    /// `chats/*/messages`; or the name that the app gave it.
    public var context: String
    /// The number of billed reads.
    public var reads: Int
    public var filter: Filter
    /// The clear mark that narrowed the queries; nil if none did.
    public var usedMark: Timestamp?
    public var time: Duration
    /// The code of the error; nil if the sync succeeded.
    public var failure: FirestoreErrorCode?
}

/// A move of a mark.
public struct ObservedMark: Hashable, Sendable {
    public var context: String
    public var mark: Marks.Name
    public var move: Marks.Move
    /// True if another device of the user moved the mark.
    public var isOfOtherDevice: Bool
}

extension ObservedEvent {
    /// A name for analytics, of at most 40 letters and underscores.
    public var name: String {
        switch self {
        case .synced: "feed_sync"
        case .markMoved: "mark_moved"
        case .launchStage: "launch_stage"
        case .profileFailed: "profile_failed"
        }
    }

    /// The values for analytics: texts of at most 100 characters, integers, and milliseconds.
    public var parameters: [String: any Sendable] {
        switch self {
        case .synced(let sync):
            var values: [String: any Sendable] = [
                "context": Self.short(sync.context), "reads": sync.reads,
                "filter": sync.filter.rawValue, "mark_used": sync.usedMark == nil ? 0 : 1,
                "milliseconds": sync.time.wholeMilliseconds,
            ]
            values["failure"] = sync.failure.map { "\($0)" }
            return values
        case .markMoved(let mark):
            return [
                "context": Self.short(mark.context), "mark": "\(mark.mark)",
                "outcome": FeedMetrics.name(of: mark.move),
                "other_device": mark.isOfOtherDevice ? 1 : 0,
            ]
        case .launchStage(let stage, let time):
            return ["stage": stage, "milliseconds": time.wholeMilliseconds]
        case .profileFailed(let answer): return ["outcome": "\(answer)"]
        }
    }

    /// The parameters as one line, by name.
    public var text: String {
        let values = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return ([name] + values).joined(separator: " ")
    }

    /// Source: Firebase Analytics, the maximum length of a parameter's text.
    private static func short(_ text: String) -> String { String(text.prefix(100)) }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int {
        Int(components.seconds) * 1_000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
