import Foundation

/// The use of a phone by an app's process: what costs a battery, as far as Linux can tell.
struct ProcessUse: Hashable, Sendable {
    /// The time on a processor, in milliseconds.
    var milliseconds = 0.0
    /// The number of times that a thread has waited and was woken.
    var wakes = 0.0
    /// The number of bursts on the network, see ``BurstCount``.
    var bursts = 0.0
    /// The number of bytes that the app sent and received.
    var bytes = 0.0

    static func + (left: ProcessUse, right: ProcessUse) -> ProcessUse {
        left.combined(right) { $0 + $1 }
    }

    static func - (left: ProcessUse, right: ProcessUse) -> ProcessUse {
        left.combined(right) { $0 - $1 }
    }

    static func / (use: ProcessUse, divisor: Int) -> ProcessUse {
        use.combined(use) { value, _ in value / Double(max(1, divisor)) }
    }

    private func combined(
        _ other: ProcessUse, _ combine: (Double, Double) -> Double
    ) -> ProcessUse {
        ProcessUse(
            milliseconds: combine(milliseconds, other.milliseconds),
            wakes: combine(wakes, other.wakes), bursts: combine(bursts, other.bursts),
            bytes: combine(bytes, other.bytes))
    }
}

/// Adds up what the threads of a process have used, as Linux counts it in `/proc`. Another system
/// has no such files.
///
/// The system forgets a thread's figures when the thread ends, so the sum is made here, reading
/// after reading. Only what a thread did between the last reading and its end is missing.
struct ThreadSum: Hashable, Sendable {
    struct Thread: Hashable, Sendable {
        var nanoseconds = 0
        var wakes = 0
    }

    private var last: [String: Thread] = [:]
    private var nanoseconds = 0
    private var wakes = 0

    var use: ProcessUse {
        ProcessUse(milliseconds: Double(nanoseconds) / 1_000_000, wakes: Double(wakes))
    }

    /// Adds what the threads have used since the last reading.
    ///
    /// - Parameter threads: The figures of each thread that runs now, by its number.
    mutating func add(_ threads: [String: Thread]) {
        for (number, now) in threads {
            var before = last[number] ?? Thread()
            // A new thread can have the number of one that has ended.
            if now.nanoseconds < before.nanoseconds || now.wakes < before.wakes {
                before = Thread()
            }
            nanoseconds += now.nanoseconds - before.nanoseconds
            wakes += now.wakes - before.wakes
        }
        last = threads
    }

    /// Reads the figures of a running process; nil if the system does not have them.
    static func threads(of process: Int32) -> [String: Thread]? {
        let folder = "/proc/\(process)/task"
        guard let numbers = try? FileManager.default.contentsOfDirectory(atPath: folder)
        else { return nil }
        var threads: [String: Thread] = [:]
        for number in numbers {
            // A thread can end meanwhile.
            let path = "\(folder)/\(number)"
            guard let times = try? String(contentsOfFile: path + "/schedstat", encoding: .utf8),
                let status = try? String(contentsOfFile: path + "/status", encoding: .utf8)
            else { continue }
            threads[number] = Thread(
                nanoseconds: nanoseconds(inSchedstat: times), wakes: wakes(inStatus: status))
        }
        return threads.isEmpty ? nil : threads
    }

    /// Returns the time on a processor: the first of three numbers.
    static func nanoseconds(inSchedstat text: String) -> Int {
        text.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 0
    }

    static func wakes(inStatus status: String) -> Int {
        let line = status.split(separator: "\n")
            .first { $0.hasPrefix("voluntary_ctxt_switches:") }
        return line?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 0
    }
}
