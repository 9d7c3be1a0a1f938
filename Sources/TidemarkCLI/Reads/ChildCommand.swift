import Foundation
import Synchronization
import TidemarkReads
import TidemarkSystem

/// A command that runs with the standard streams and the terminal of this process, so that it
/// behaves as if it had been started alone.
final class ChildCommand: Sendable {
    /// The error of a command that did not start.
    struct NotStarted: Error {
        let ending: SuiteEnding
    }

    private let pid: pid_t
    /// True when the process has ended. Its number may belong to another process then.
    private let isOver = Mutex(false)

    /// Starts a command.
    ///
    /// - Parameters:
    ///   - arguments: The command and its arguments. A command without a slash is found by PATH.
    ///   - environment: The command's whole environment.
    /// - Precondition: There is a command.
    init(_ arguments: [String], environment: [String: String]) throws(NotStarted) {
        precondition(!arguments.isEmpty)
        var pid: pid_t = 0
        let code = Self.spawn(arguments, environment: environment, pid: &pid)
        if code != 0 {
            let reason = String(cString: strerror(code))
            throw NotStarted(ending: code == ENOENT ? .notFound : .notStarted(reason))
        }
        self.pid = pid
    }

    /// - Returns: 0, or the system's error.
    private static func spawn(
        _ arguments: [String], environment: [String: String], pid: inout pid_t
    ) -> Int32 {
        let attributes = made(posix_spawnattr_init)
        defer {
            posix_spawnattr_destroy(attributes)
            attributes.deallocate()
        }
        // This process ignores or blocks some signals, which a command does not expect.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(attributes, &signals)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(attributes, &signals)
        posix_spawnattr_setflags(
            attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))
        let texts = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        var argv = arguments.map { strdup($0) } + [nil]
        var envp = texts.map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        return posix_spawnp(&pid, arguments[0], nil, attributes, &argv, &envp)
    }

    /// Returns a value that a function of the C library has made. Its type differs between systems.
    private static func made<Value>(
        _ make: (UnsafeMutablePointer<Value>) -> Int32
    ) -> UnsafeMutablePointer<Value> {
        let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        _ = make(value)
        return value
    }

    /// Passes a signal on to the command. A terminal sends its interrupts to the command itself.
    func pass(on signal: Int32) {
        if signal == SIGINT, isatty(STDIN_FILENO) == 1 { return }
        send(signal)
    }

    private func send(_ signal: Int32) {
        isOver.withLock { isOver in
            if !isOver { _ = kill(pid, signal) }
        }
    }

    /// Returns when the command has ended. If the task is cancelled, the command gets SIGTERM.
    func ended() async -> SuiteEnding {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Waiting blocks, and a task must not block.
                Thread.detachNewThread { [self] in continuation.resume(returning: wait()) }
            }
        } onCancel: {
            send(SIGTERM)
        }
    }

    private func wait() -> SuiteEnding {
        var information = siginfo_t()
        // The process keeps its number until it is asked for its status.
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        var status: Int32 = 0
        isOver.withLock { isOver in
            while waitpid(pid, &status, 0) < 0, errno == EINTR {}
            isOver = true
        }
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal: signal)
    }
}
