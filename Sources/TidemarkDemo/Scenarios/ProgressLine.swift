import Foundation

/// One line that is written over again, on a terminal only: a pipe gets nothing but results.
enum ProgressLine {
    private static let isTerminal = isatty(STDERR_FILENO) == 1

    static func show(_ text: String) {
        if isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8)) }
    }

    static func clear() { show("") }
}
