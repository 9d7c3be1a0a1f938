public import Foundation
public import Tidemark

/// Predicts when a user will open a context, from the hours of earlier openings. The predictor is
/// pure: it takes every opening and the time, sends no request, and warms nothing.
///
/// A prediction is a guess about *when to read*, never about *what is there*: a warmed context is
/// opened and updated like any other. A wrong guess can only cost reads.
///
/// An hour of the day counts as a habit if the context was opened in that hour on at least
/// ``minimumDays`` days, and on at least ``threshold`` of the days of that kind (weekdays,
/// weekends) since the first remembered opening.
public struct PrefetchPredictor: Hashable, Sendable, Codable {
    /// A context that should be updated before it is opened.
    public struct Warming: Hashable, Sendable {
        public var context: String
        /// The time to begin: ``lead`` before the user's usual time.
        public var at: Timestamp
        /// The share of days on which the user opened the context in that hour.
        public var probability: Double
    }

    /// The maximum number of remembered openings for each context; the newest are kept.
    public static let maxOpenings = 200
    /// The maximum number of remembered contexts; the least recently opened is removed first.
    public static let maxContexts = 100
    /// The age above which openings have no influence.
    public static let memory = Duration.seconds(28 * 86_400)

    /// The minimum number of days of a habit.
    public var minimumDays = 3
    /// The minimum share of days of a habit, 0 to 1.
    public var threshold = 0.5
    /// The time between a warming and the usual opening.
    public var lead = Duration.seconds(600)
    /// The time zone of the hours.
    public var timeZone: TimeZone

    /// Seconds since 1970, ascending.
    private var openings: [String: [Int64]] = [:]

    public init(timeZone: TimeZone) { self.timeZone = timeZone }

    /// The names of the remembered contexts.
    public var contexts: [String] { openings.keys.sorted() }

    /// Records that the user opened a context. A time before the last, from a clock that was set
    /// back, is inserted in order.
    public mutating func opened(_ context: String, at time: Timestamp) {
        var times = openings[context] ?? []
        let place = times.lastIndex { $0 <= time.seconds }.map { $0 + 1 } ?? 0
        times.insert(time.seconds, at: place)
        let oldest = (times.last ?? 0) - Self.memory.components.seconds
        times.removeAll { $0 < oldest }
        openings[context] = times.suffix(Self.maxOpenings)
        if openings.count > Self.maxContexts,
            let old = openings.filter({ $0.key != context }).min(by: {
                ($0.value.last ?? 0, $0.key) < ($1.value.last ?? 0, $1.key)
            })
        {
            openings[old.key] = nil
        }
    }

    public mutating func forget(_ context: String) { openings[context] = nil }

    /// Returns the useful warmings in the `duration` after `now`, the next first: at most one for
    /// each hour of a context.
    public func warmings(
        after now: Timestamp, within duration: Duration = .seconds(86_400)
    ) -> [Warming] {
        let all = openings.keys.flatMap { warmings(of: $0, after: now, within: duration) }
        return all.sorted { ($0.at, $0.context) < ($1.at, $1.context) }
    }

    public func warmings(
        of context: String, after now: Timestamp, within duration: Duration = .seconds(86_400)
    ) -> [Warming] {
        guard let times = openings[context] else { return [] }
        let habits = Habits(
            times.filter { $0 >= now.seconds - Self.memory.components.seconds },
            until: now.seconds, in: timeZone)
        let end = now.advanced(by: duration)
        let today = LocalTime(now.seconds, in: timeZone).day
        let days = Int(duration.components.seconds / 86_400) + 2
        var result: [Warming] = []
        for day in today..<(today + min(days, 32)) {
            for (hour, habit) in habits.habits(on: day, atLeast: minimumDays, threshold) {
                let usual = LocalTime.seconds(
                    day: day, second: hour * 3_600 + habit.second, in: timeZone)
                let at = Timestamp(seconds: usual, nanoseconds: 0).advanced(by: .zero - lead)
                guard at > now, at <= end else { continue }
                result.append(
                    Warming(context: context, at: at, probability: habit.probability))
            }
        }
        return result.sorted { $0.at < $1.at }
    }
}
