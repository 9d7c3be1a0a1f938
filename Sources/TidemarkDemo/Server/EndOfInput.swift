import Foundation

/// Ends a server together with the process that started it. That process holds the other end of the
/// server's standard input. The system closes that end when the process ends, even after `kill -9`.
package enum EndOfInput {
    /// Ends this process as SIGTERM does, when its standard input ends.
    package static func endsThisProcess() {
        // Reading blocks, and a task must not block.
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            kill(getpid(), SIGTERM)
        }
    }
}
