import Dispatch
import Foundation

/// An app in a process of its own: this executable, told what to be.
final class AppProcess: Sendable {
    private let process = Process()

    init(_ arguments: [String]) {
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
    }

    /// Begins it. What it prints comes line by line, as words, until it has ended.
    func start() throws -> AsyncStream<[String]> {
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let (lines, input) = AsyncStream.makeStream(of: [String].self)
        // On a thread of its own: it waits for the process, as no task may.
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

    /// Whether it ended by itself and without an error. To be asked once its lines have ended.
    var endedWell: Bool {
        process.terminationReason == .exit && process.terminationStatus == 0
    }

    /// At once, as a system does that needs the memory.
    func kill() { _ = Foundation.kill(process.processIdentifier, SIGKILL) }
}
