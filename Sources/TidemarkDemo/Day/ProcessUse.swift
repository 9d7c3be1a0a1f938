import Foundation

/// The processor time and the wake-ups of a process, as Linux counts them. Both cost a phone's
/// battery. Another system has no such files.
struct ProcessUse: Hashable, Sendable {
    /// The time on a processor, in milliseconds. The system counts it in ticks of usually 10 ms.
    var milliseconds = 0.0
    /// The number of times that a thread has waited and was woken.
    var wakes = 0.0

    init() {}

    /// Reads the figures of a running process; nil if the system does not have them.
    init?(of process: Int32) {
        let folder = "/proc/\(process)"
        guard let stat = try? String(contentsOfFile: folder + "/stat", encoding: .utf8),
            let ticks = Self.ticks(inStat: stat),
            let threads = try? FileManager.default.contentsOfDirectory(atPath: folder + "/task")
        else { return nil }
        milliseconds = Double(ticks) * 1_000 / Double(sysconf(Int32(_SC_CLK_TCK)))
        for thread in threads {
            // A thread can end meanwhile.
            let path = "\(folder)/task/\(thread)/status"
            guard let status = try? String(contentsOfFile: path, encoding: .utf8) else { continue }
            wakes += Double(Self.wakes(inStatus: status))
        }
    }

    /// Returns the ticks in user and kernel mode. The name of the process, in parentheses, can
    /// contain spaces.
    static func ticks(inStat stat: String) -> Int? {
        guard let end = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let user = Int(fields[11]), let kernel = Int(fields[12])
        else { return nil }
        return user + kernel
    }

    static func wakes(inStatus status: String) -> Int {
        let line = status.split(separator: "\n")
            .first { $0.hasPrefix("voluntary_ctxt_switches:") }
        return line?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 0
    }

    static func - (left: ProcessUse, right: ProcessUse) -> ProcessUse {
        var use = ProcessUse()
        use.milliseconds = left.milliseconds - right.milliseconds
        use.wakes = left.wakes - right.wakes
        return use
    }

    static func / (use: ProcessUse, divisor: Int) -> ProcessUse {
        var share = ProcessUse()
        share.milliseconds = use.milliseconds / Double(max(1, divisor))
        share.wakes = use.wakes / Double(max(1, divisor))
        return share
    }
}

/// The processor time and the wake-ups of a day with an app, by its parts.
struct DayUse: Hashable, Sendable {
    /// The use until a launch shows the newest message.
    var open = ProcessUse()
    /// The use for a message that arrives while the chat is shown.
    var message = ProcessUse()
    /// The use in a minute in which the chat is shown and nothing arrives.
    var quietMinute = ProcessUse()

    /// The day that the figures are for: 20 launches, and four hours with the chat on the screen,
    /// in which a message arrives each minute. The system suspends the app for the rest of the day.
    static let (launches, minutes) = (20.0, 240.0)

    func inDay(_ figure: KeyPath<ProcessUse, Double>) -> Double {
        Self.launches * open[keyPath: figure]
            + Self.minutes * (message[keyPath: figure] + quietMinute[keyPath: figure])
    }
}
