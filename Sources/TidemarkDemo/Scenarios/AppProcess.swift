import Dispatch
import Foundation

/// An app in a separate process: this executable with other arguments.
final class AppProcess: Sendable {
    private let process = Process()
    /// The process's standard input. It closes when the demo ends in any way, and a process that
    /// runs until it is killed ends then.
    private let input = Pipe()

    /// - Parameters:
    ///   - arguments: The arguments of this executable.
    ///   - errors: The process's standard error.
    init(_ arguments: [String], errors: FileHandle = .nullDevice) {
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardInput = input
        process.standardError = errors
    }

    /// Starts the process. Returns the words of each line that it prints, until it ends.
    func start() throws -> AsyncStream<[String]> {
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let (lines, input) = AsyncStream.makeStream(of: [String].self)
        // Waiting for the process blocks, and a task must not block, so this runs on its own
        // thread.
        DispatchQueue(label: "tidemark.demo.app").async { [self] in
            var rest = Data()
            while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: rest[..<end], as: UTF8.self)
                    rest = Data(rest[(end + 1)...])
                    input.yield(line.split(separator: " ").map(String.init))
                }
            }
            process.waitUntilExit()
            input.finish()
        }
        return lines
    }

    /// True if the process exited without an error. Use it only after the lines have ended.
    var endedWell: Bool {
        process.terminationReason == .exit && process.terminationStatus == 0
    }

    /// The number of the process. Use it only after the start.
    var identifier: Int32 { process.processIdentifier }

    /// Kills the process without warning, as a system does that needs memory.
    func kill() { _ = Foundation.kill(process.processIdentifier, SIGKILL) }
}
