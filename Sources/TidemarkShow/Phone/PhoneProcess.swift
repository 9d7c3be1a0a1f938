import Dispatch
import ExampleKit
import Foundation
import Synchronization

/// The parent's hold on a phone's process.
final class PhoneProcess: Sendable {
    private let process = Process()
    private let input = Pipe()
    /// How it ended; nil while it goes on.
    private let end = Mutex<String?>(nil)
    private let writing = DispatchQueue(label: "tidemark.show.phone.orders")

    /// Starts it: this executable, told to be a phone.
    ///
    /// - Returns: What it says, until it has ended.
    init(
        _ app: String, _ side: PhoneSide, _ settings: PhoneSettings, clock: Double
    ) throws {
        process.executableURL = Bundle.main.executableURL
        let text = String(decoding: JSONLine.encode(settings).dropLast(), as: UTF8.self)
        process.arguments = [
            "phone", app, "--side", side.rawValue, "--clock", "\(clock)", "--settings", text,
        ]
        process.standardInput = input
        process.standardError = FileHandle.nullDevice
    }

    /// Begins it. What it says comes until it has ended.
    func start() throws -> AsyncStream<PhoneNews> {
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // A slow reader skips to the newest: of screens and plans only the last counts.
        let (news, sink) = AsyncStream.makeStream(
            of: PhoneNews.self, bufferingPolicy: .bufferingNewest(64))
        let descriptor = output.fileHandleForReading
        DispatchQueue(label: "tidemark.show.phone").async { [self] in
            var cutter = LineCutter()
            while let data = PipeReading.next(of: descriptor) {
                guard let lines = cutter.add(data) else {
                    // What it says is no line of ours.
                    kill9()
                    break
                }
                for line in lines {
                    if let told = JSONLine.decode(PhoneNews.self, line) { sink.yield(told) }
                }
            }
            process.waitUntilExit()
            let isWell =
                process.terminationReason == .exit && process.terminationStatus == 0
            end.withLock {
                $0 =
                    isWell
                    ? "The app has ended." : "The app crashed (\(process.terminationStatus))."
            }
            sink.finish()
        }
        return news
    }

    /// How it ended; nil while it goes on.
    var ending: String? { end.withLock { $0 } }

    func tell(_ order: PhoneOrder) {
        // A process that is gone does not read, and the pipe says so with an error.
        writing.async { [input] in
            try? input.fileHandleForWriting.write(contentsOf: JSONLine.encode(order))
        }
    }

    /// At once, as a system does that needs the memory.
    func kill9() {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}
