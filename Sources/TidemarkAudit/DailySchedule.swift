public import Foundation

/// A time of day in a time zone.
public struct DailySchedule: Hashable, Sendable {
    public let hour: Int
    public let minute: Int
    public let timeZone: TimeZone

    /// - Parameters:
    ///   - time: Hours and minutes, for example `02:00`.
    ///   - timeZone: The time zone of `time`.
    /// - Returns: The schedule; nil if `time` is not a time of day.
    public init?(_ time: String, in timeZone: TimeZone) {
        let parts = time.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let hour = Int(parts[0]), let minute = Int(parts[1]),
            (0...23).contains(hour), (0...59).contains(minute)
        else { return nil }
        self.hour = hour
        self.minute = minute
        self.timeZone = timeZone
    }

    /// Returns the first such time after `date`. If clocks skip the time, returns the moment after
    /// the gap; if it occurs twice, the first.
    public func next(after date: Date) -> Date {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let next = calendar.nextDate(
            after: date, matching: DateComponents(hour: hour, minute: minute, second: 0),
            matchingPolicy: .nextTime, repeatedTimePolicy: .first)
        // There is always a next time, because each day has the time or the moment after a gap.
        return next ?? date.addingTimeInterval(86_400)
    }

    /// Returns the local time of a moment, for example `2026-11-23T02:00:00+01:00 (Europe/Zurich)`.
    func text(_ date: Date) -> String {
        let format = Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: timeZone)
        return "\(date.formatted(format)) (\(timeZone.identifier))"
    }
}
