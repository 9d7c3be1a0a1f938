import Foundation

/// A moment in local time.
struct LocalTime: Hashable {
    /// The days since 1970.
    let day: Int
    /// The seconds since midnight.
    let second: Int

    init(_ seconds: Int64, in timeZone: TimeZone) {
        let local = seconds + Int64(Self.offset(seconds, timeZone))
        day = Int((local >= 0 ? local : local - 86_399) / 86_400)
        second = Int(local - Int64(day) * 86_400)
    }

    /// Returns the moment at which a local clock shows the time. On two days of a year, the time
    /// occurs twice or never: the result is then off by an hour.
    static func seconds(day: Int, second: Int, in timeZone: TimeZone) -> Int64 {
        let local = Int64(day) * 86_400 + Int64(second)
        let guess = local - Int64(offset(local, timeZone))
        return local - Int64(offset(guess, timeZone))
    }

    private static func offset(_ seconds: Int64, _ timeZone: TimeZone) -> Int {
        timeZone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    }

    /// 1 January 1970 was a Thursday.
    static func isWeekend(_ day: Int) -> Bool {
        let weekday = ((day + 3) % 7 + 7) % 7
        return weekday >= 5
    }
}

/// The number of days, by kind of day, on which each hour had openings.
struct Habits {
    struct Habit: Hashable {
        /// The seconds from the start of the hour; three of four first openings in the hour are
        /// later.
        let second: Int
        let probability: Double
    }

    /// The number of observed days, for weekdays (false) and weekends (true).
    private var watched = [false: 0, true: 0]
    /// The first opening of each day in an hour, by kind of day and hour.
    private var firsts: [Bool: [Int: [Int]]] = [:]

    init(_ times: [Int64], until now: Int64, in timeZone: TimeZone) {
        let openings = times.map { LocalTime($0, in: timeZone) }
        guard let first = openings.first?.day else { return }
        let today = LocalTime(now, in: timeZone).day
        // Today is not over: it counts only if the user has already come.
        for day in first..<max(first + 1, today) { watched[LocalTime.isWeekend(day)]! += 1 }
        var seen: Set<LocalTime> = []
        for opening in openings {
            let hour = opening.second / 3_600
            guard seen.insert(LocalTime(day: opening.day, hour: hour)).inserted else { continue }
            firsts[LocalTime.isWeekend(opening.day), default: [:]][hour, default: []]
                .append(opening.second % 3_600)
        }
    }

    func habits(
        on day: Int, atLeast days: Int, _ threshold: Double
    ) -> [(hour: Int, habit: Habit)] {
        let isWeekend = LocalTime.isWeekend(day)
        guard let hours = firsts[isWeekend], let watched = watched[isWeekend] else { return [] }
        return hours.keys.sorted().compactMap { hour in
            let seconds = (hours[hour] ?? []).sorted()
            let share = min(1, Double(seconds.count) / Double(max(1, watched)))
            guard seconds.count >= days, share >= threshold else { return nil }
            return (hour, Habit(second: seconds[seconds.count / 4], probability: share))
        }
    }
}

extension LocalTime {
    fileprivate init(day: Int, hour: Int) {
        self.day = day
        second = hour
    }
}
