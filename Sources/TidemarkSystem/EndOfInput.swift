import Foundation

/// Ends a process together with the process that started it, which holds the other end of the
/// standard input. The system closes that end when the starter ends, even after `kill -9`.
package enum EndOfInput {
    /// Sends SIGTERM to this process when its standard input ends.
    package static func raiseSIGTERM() {
        // Reading blocks, and a task must not block.
        Thread.detachNewThread {
            while !FileHandle.standardInput.availableData.isEmpty {}
            kill(getpid(), SIGTERM)
        }
    }
}
