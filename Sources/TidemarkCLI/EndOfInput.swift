import Foundation

/// Whoever starts a server for itself holds the other end of its standard input. The system closes that when
/// its process ends, also by `kill -9`, and the server ends too.
enum EndOfInput {
    /// Ends this process as SIGTERM does, when its standard input is at its end.
    static func endsThisProcess() {
        // Reading waits, as no task may.
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            kill(getpid(), SIGTERM)
        }
    }
}
