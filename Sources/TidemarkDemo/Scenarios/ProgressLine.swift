import Foundation
import Synchronization

/// The progress of a demo. A terminal shows one line that is overwritten; a pipe receives one line
/// per minute.
enum ProgressLine {
    private static let isTerminal = isatty(STDERR_FILENO) == 1
    private static let pace = Duration.seconds(60)
    /// The time of the last line that was written to a pipe.
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
