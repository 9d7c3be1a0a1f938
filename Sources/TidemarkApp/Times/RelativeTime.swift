public import Foundation
public import Tidemark

/// How long ago something was, as lists of messages say it: "Now", "2m ago", "5h ago", "Yesterday",
/// "Oct 19".
///
/// | since then | text |
/// |---|---|
/// | less than 60 s, or still to come | "Now" |
/// | less than 3,600 s | minutes, rounded down |
/// | less than 86,400 s | hours, rounded down |
/// | less than 172,800 s | "Yesterday" |
/// | longer | the month and the day |
///
/// Pure: the same times give the same text. Everything but the last row is a matter of seconds gone
/// by, whatever the calendar says; only the day needs ``calendar`` and its time zone.
public struct RelativeTime: Sendable {
    /// The texts, for other languages.
    public struct Words: Sendable {
        public var now: String
        public var minutes: @Sendable (Int) -> String
        public var hours: @Sendable (Int) -> String
        public var yesterday: String
        /// - Parameters: The month's number from 1, and the day of the month.
        public var day: @Sendable (_ month: Int, _ day: Int) -> String

        public init(
            now: String, minutes: @escaping @Sendable (Int) -> String,
            hours: @escaping @Sendable (Int) -> String, yesterday: String,
            day: @escaping @Sendable (_ month: Int, _ day: Int) -> String
        ) {
            self.now = now
            self.minutes = minutes
            self.hours = hours
            self.yesterday = yesterday
            self.day = day
        }

        /// "Oct 19"; a month that the calendar has beyond twelve is a number.
        public static let english = Words(
            now: "Now", minutes: { "\($0)m ago" }, hours: { "\($0)h ago" },
            yesterday: "Yesterday",
            day: { month, day in
                let name = months.indices.contains(month - 1) ? months[month - 1] : "\(month)"
                return "\(name) \(day)"
            })

        private static let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
    }

    /// Whose days and months are meant, and in which time zone.
    public var calendar: Calendar
    public var words: Words

    public init(calendar: Calendar, words: Words = .english) {
        self.calendar = calendar
        self.words = words
    }

    /// In a time zone of the Gregorian calendar.
    public init(timeZone: TimeZone, words: Words = .english) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        self.init(calendar: calendar, words: words)
    }

    public func text(for time: Timestamp, at now: Timestamp) -> String {
        // Rounded down: 59.999 s are less than a minute, 60 s are one.
        let seconds = now.duration(since: time).components.seconds
        switch seconds {
        case ..<60: return words.now
        case ..<3_600: return words.minutes(Int(seconds / 60))
        case ..<86_400: return words.hours(Int(seconds / 3_600))
        case ..<172_800: return words.yesterday
        default:
            let day = calendar.dateComponents([.month, .day], from: time.dateValue())
            return words.day(day.month ?? 0, day.day ?? 0)
        }
    }
}
