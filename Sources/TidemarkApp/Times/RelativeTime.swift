public import Foundation
public import Tidemark
import TidemarkWords

/// The time since an event, in the words of message lists: "Now", "2m ago", "5h ago", "Yesterday",
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
/// The function is pure: the same times give the same text. Every row except the last depends only
/// on elapsed seconds, not on the calendar; only the day needs ``calendar`` and its time zone.
public struct RelativeTime: Sendable {
    /// The texts. The default is the language of the app, from its table `Tidemark`.
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

        /// Creates the words from your own table, with the keys of the article *Sentences for
        /// people*: `time.now`, `time.minutes`, `time.hours`, `time.yesterday`, `time.day` and
        /// `time.january` to `time.december`. Missing keys are in English.
        public init(by table: @escaping @Sendable (_ key: String) -> String?) {
            self.init(saying: { $0.localized(by: table) })
        }

        private init(saying say: @escaping @Sendable (Sentence) -> String) {
            self.init(
                now: say(Sentence("time.now", "Now")),
                minutes: { say(Sentence("time.minutes", "%1$@m ago", arguments: ["\($0)"])) },
                hours: { say(Sentence("time.hours", "%1$@h ago", arguments: ["\($0)"])) },
                yesterday: say(Sentence("time.yesterday", "Yesterday")),
                day: { month, day in
                    let isNamed = Self.months.indices.contains(month - 1)
                    let name = isNamed ? say(Self.months[month - 1]) : "\(month)"
                    return say(Sentence("time.day", "%1$@ %2$@", arguments: [name, "\(day)"]))
                })
        }

        /// The words in the language of the app, from its table `Tidemark`, or in English without
        /// such a table.
        public static var localized: Words { Words(saying: { $0.localized() }) }

        /// The English words, regardless of the app's language: "Oct 19"; a calendar's month beyond
        /// twelve is a number.
        public static let english = Words(by: { _ in nil })

        private static let months = [
            Sentence("time.january", "Jan"), Sentence("time.february", "Feb"),
            Sentence("time.march", "Mar"), Sentence("time.april", "Apr"),
            Sentence("time.may", "May"), Sentence("time.june", "Jun"),
            Sentence("time.july", "Jul"), Sentence("time.august", "Aug"),
            Sentence("time.september", "Sep"), Sentence("time.october", "Oct"),
            Sentence("time.november", "Nov"), Sentence("time.december", "Dec"),
        ]
    }

    /// The calendar of the days and months, with the time zone.
    public var calendar: Calendar
    public var words: Words

    public init(calendar: Calendar, words: Words = .localized) {
        self.calendar = calendar
        self.words = words
    }

    /// Uses a time zone of the Gregorian calendar.
    public init(timeZone: TimeZone, words: Words = .localized) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        self.init(calendar: calendar, words: words)
    }

    public func text(for time: Timestamp, at now: Timestamp) -> String {
        // Seconds are rounded down: 59.999 s are less than a minute, 60 s are a minute.
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
