import Foundation

/// A moment by the clock on the wall.
struct LocalTime: Hashable {
    /// Since 1970.
    let day: Int
    /// Since midnight.
    let second: Int

    init(_ seconds: Int64, in timeZone: TimeZone) {
        let local = seconds + Int64(Self.offset(seconds, timeZone))
        day = Int((local >= 0 ? local : local - 86_399) / 86_400)
        second = Int(local - Int64(day) * 86_400)
    }

    /// When the wall's clock shows it. Twice or never on two days of a year: the hour beside it then.
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

/// On how many days of a kind each hour was one of openings.
struct Habits {
    struct Habit: Hashable {
        /// Since the hour began: three of four first openings in it are later.
        let second: Int
        let probability: Double
    }

    /// The days that were watched, weekdays and weekends.
    private var watched = [false: 0, true: 0]
    /// By kind of day and hour: of each day, when it was first opened.
    private var firsts: [Bool: [Int: [Int]]] = [:]

    init(_ times: [Int64], until now: Int64, in timeZone: TimeZone) {
        let openings = times.map { LocalTime($0, in: timeZone) }
        guard let first = openings.first?.day else { return }
        let today = LocalTime(now, in: timeZone).day
        // Today is not over: it counts only where the user came already.
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
