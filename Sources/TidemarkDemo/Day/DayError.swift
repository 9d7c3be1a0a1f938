/// The reason why a day cannot be played to its end.
enum DayError: Error, Equatable, CustomStringConvertible {
    /// The app has ended before it showed a message.
    case ended(DayVersion, message: String)
    /// The app runs and does not show a message.
    case didNotShow(DayVersion, message: String, seconds: Int64)
    /// The app has ended, or the system does not tell what a process uses.
    case notMeasured(DayVersion)

    var description: String {
        switch self {
        case .ended(let version, let message):
            "\(Self.app(version)) ended before it showed message \(message)."
        case .didNotShow(let version, let message, let seconds):
            "\(Self.app(version)) did not show message \(message) within \(seconds) s."
        case .notMeasured(let version):
            "\(Self.app(version)) ended, or this system does not tell what it uses: only Linux does."
        }
    }

    private static func app(_ version: DayVersion) -> String {
        switch version {
        case .before: "The app as it was"
        case .after: "The app on Tidemark"
        case .process, .signIn, .feed, .listener, .marks, .pictures:
            "The app on Tidemark (\(version.service))"
        }
    }
}
