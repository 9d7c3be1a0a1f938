import Synchronization
import Tidemark

/// Keeps the log of this process's clients from the first use on, and does not print it.
enum KeptLog {
    private static let kept = Mutex<[LogLine]>([])
    private static let beginning: Void = Firestore.log(
        to: LogSink { line in kept.withLock { $0.append(line) } })

    static var lines: [LogLine] { kept.withLock(\.self) }

    static func begin() { beginning }

    static func has(_ level: LogLine.Level, _ text: String) -> Bool {
        lines.contains { $0.level == level && $0.text.contains(text) }
    }
}
