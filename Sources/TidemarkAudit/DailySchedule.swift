public import Foundation

/// A time of day in a place.
public struct DailySchedule: Hashable, Sendable {
    public let hour: Int
    public let minute: Int
    public let timeZone: TimeZone

    /// - Parameters:
    ///   - time: Hours and minutes, as in `02:00`.
    ///   - timeZone: The place whose time it is.
    /// - Returns: Nil when `time` is not a time of day.
    public init?(_ time: String, in timeZone: TimeZone) {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let hour = Int(parts[0]), let minute = Int(parts[1]),
            (0...23).contains(hour), (0...59).contains(minute)
        else { return nil }
        self.hour = hour
        self.minute = minute
        self.timeZone = timeZone
    }

    /// The first such time after a moment. Where a clock is put forward over it, the moment after the
    /// gap; where a clock is put back and has it twice, the first.
    public func next(after date: Date) -> Date {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let next = calendar.nextDate(
            after: date, matching: DateComponents(hour: hour, minute: minute, second: 0),
            matchingPolicy: .nextTime, repeatedTimePolicy: .first)
        // Each day has each of its times, or the one after: there is always a next.
        return next ?? date.addingTimeInterval(86_400)
    }

    /// A moment as the place's clocks show it, as in `2026-11-23T02:00:00+01:00 (Europe/Zurich)`.
    func text(_ date: Date) -> String {
        let format = Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: timeZone)
        return "\(date.formatted(format)) (\(timeZone.identifier))"
    }
}
