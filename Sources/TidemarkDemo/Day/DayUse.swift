/// The use of a phone in a day with an app, by its parts.
struct DayUse: Sendable {
    /// The use until a launch shows everything that is on the server.
    var launch = ProcessUse()
    /// The use for a message that arrives while the chat is shown.
    var message = ProcessUse()
    /// The use in a minute in which the chat is shown and a message arrives.
    var minute = ProcessUse()

    /// The day that the figures are for: 20 launches, and four hours with the chat on the screen,
    /// in which a message arrives each minute. The system suspends the app for the rest of the day.
    static let (launches, minutes) = (20.0, 240.0)

    func inDay(_ figure: KeyPath<ProcessUse, Double>) -> Double {
        Self.launches * launch[keyPath: figure] + Self.minutes * minute[keyPath: figure]
    }

    static func - (left: DayUse, right: DayUse) -> DayUse {
        var use = DayUse()
        use.launch = left.launch - right.launch
        use.message = left.message - right.message
        use.minute = left.minute - right.minute
        return use
    }

    /// The figures of the whole day for one service, whose bytes are few.
    var ofDay: [(name: String, value: Double, unit: String)] {
        figures.suffix(4).dropLast() + [("bytes of a day", inDay(\.bytes) / 1_000, " kB")]
    }

    /// The figures of the table, with their names.
    var figures: [(name: String, value: Double, unit: String)] {
        [
            ("processor time of a launch", launch.milliseconds, " ms"),
            ("processor time of a message", message.milliseconds, " ms"),
            ("processor time of a minute", minute.milliseconds, " ms"),
            ("wake-ups of a launch", launch.wakes, ""),
            ("wake-ups of a message", message.wakes, ""),
            ("wake-ups of a minute", minute.wakes, ""),
            ("bursts of a launch", launch.bursts, ""),
            ("bursts of a minute", minute.bursts, ""),
            ("bytes of a launch", launch.bytes / 1_000, " kB"),
            ("bytes of a minute", minute.bytes / 1_000, " kB"),
            ("processor time of a day", inDay(\.milliseconds) / 1_000, " s"),
            ("wake-ups of a day", inDay(\.wakes), ""),
            ("bursts of a day", inDay(\.bursts), ""),
            ("bytes of a day", inDay(\.bytes) / 1_000_000, " MB"),
        ]
    }
}
