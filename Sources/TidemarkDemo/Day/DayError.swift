/// The reason why a day cannot be played to its end.
enum DayError: Error, Equatable, CustomStringConvertible {
    /// The app has ended before it showed a message.
    case ended(Side, message: String)
    /// The app runs and does not show a message.
    case didNotShow(Side, message: String, seconds: Int64)
    /// The app has ended, or the system does not tell what a process uses.
    case notMeasured(Side)

    var description: String {
        switch self {
        case .ended(let side, let message):
            "\(Self.app(side)) ended before it showed message \(message)."
        case .didNotShow(let side, let message, let seconds):
            "\(Self.app(side)) did not show message \(message) within \(seconds) s."
        case .notMeasured(let side):
            "\(Self.app(side)) ended, or this system does not tell what it uses: only Linux does."
        }
    }

    private static func app(_ side: Side) -> String {
        side == .after ? "The app on Tidemark" : "The app as it was"
    }
}
