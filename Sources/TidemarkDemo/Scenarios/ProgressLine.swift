import Foundation
import Synchronization

/// How far a demo is: on a terminal one line that is written over again, in a pipe one line a minute.
enum ProgressLine {
    private static let isTerminal = isatty(STDERR_FILENO) == 1
    private static let pace = Duration.seconds(60)
    /// When a line went into a pipe last.
    private static let told = Mutex<ContinuousClock.Instant?>(nil)

    static func show(_ text: String) {
        if isTerminal { return write("\r\u{1B}[K\(text)") }
        let isTime = told.withLock { told in
            if let last = told, .now - last < pace { return false }
            told = .now
            return true
        }
        if isTime { write("\(text)\n") }
    }

    static func clear() { if isTerminal { write("\r\u{1B}[K") } }

    private static func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
