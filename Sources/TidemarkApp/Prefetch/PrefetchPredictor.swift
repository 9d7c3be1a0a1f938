public import Foundation
public import Tidemark

/// When a user is going to open a context, from the hours at which they opened it before. Pure: it is
/// told every opening and the time, asks nothing, and warms nothing itself.
///
/// A prediction is a guess about *when to read*, never about *what is there*: a context that was warmed is
/// opened and brought up to date like any other. The worst that a wrong guess does is to cost reads.
///
/// An hour of the day counts as a habit when the context was opened in it on at least ``minimumDays``
/// days, and on at least ``threshold`` of the days of its kind (weekdays, weekends) since the first
/// opening that is remembered.
public struct PrefetchPredictor: Hashable, Sendable, Codable {
    /// One context that should be brought up to date before it is opened.
    public struct Warming: Hashable, Sendable {
        public var context: String
        /// When to begin: ``lead`` before the user is usually there.
        public var at: Timestamp
        /// The share of days on which the user came in that hour.
        public var probability: Double
    }

    /// Openings that are remembered for each context, the newest.
    public static let maxOpenings = 200
    /// Contexts that are remembered; the one opened the longest ago goes first.
    public static let maxContexts = 100
    /// Openings older than this say nothing of today.
    public static let memory = Duration.seconds(28 * 86_400)

    /// Fewer days than this are no habit.
    public var minimumDays = 3
    /// The least share of days, 0 to 1.
    public var threshold = 0.5
    /// How long before the usual time.
    public var lead = Duration.seconds(600)
    /// Whose hours are meant.
    public var timeZone: TimeZone

    /// Seconds since 1970, ascending.
    private var openings: [String: [Int64]] = [:]

    public init(timeZone: TimeZone) { self.timeZone = timeZone }

    /// Names of what is remembered.
    public var contexts: [String] { openings.keys.sorted() }

    /// Takes note that a user opened a context. A time before the last one, of a clock that was set
    /// back, is sorted in.
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

    /// What is worth warming in the `duration` after `now`, the next first: at most one for each hour
    /// of a context.
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
