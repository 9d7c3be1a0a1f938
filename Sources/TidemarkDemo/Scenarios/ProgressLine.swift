import Foundation

/// One line that is written over again, on a terminal only.
enum ProgressLine {
    private static let isTerminal = isatty(STDERR_FILENO) == 1

    static func show(_ text: String) {
        let line = isTerminal ? "\r\u{1B}[K\(text)" : text + "\n"
        FileHandle.standardError.write(Data(line.utf8))
    }

    static func clear() {
        if isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
    }
}
