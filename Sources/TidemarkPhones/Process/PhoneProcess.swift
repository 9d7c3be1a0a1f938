import Dispatch
package import ExampleKit
import Foundation
import Synchronization

/// The parent's hold on a phone's process.
package final class PhoneProcess: Sendable {
    private struct Life {
        var hasStarted = false
        var isKilled = false
        /// How it ended; nil while it goes on.
        var ending: String?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// A phone that was killed does not read its orders; that is no reason for its parent to end.
    private static let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    private let process = Process()
    private let input = Pipe()
    /// Whether it runs an app, and no script of a test.
    private let isPhone: Bool
    private let life = Mutex(Life())
    private let writing = DispatchQueue(label: "tidemark.phone.orders")

    /// This executable, told to be a phone.
    ///
    /// - Parameters:
    ///   - clock: Seconds that its clock is ahead.
    ///   - killAt: The step of a sign-up at which it kills itself; 0 for none.
    package convenience init(
        _ app: String, _ side: PhoneSide, _ settings: PhoneSettings, clock: Double = 0,
        killAt: Int = 0
    ) {
        let text = String(decoding: JSONLine.encode(settings).dropLast(), as: UTF8.self)
        self.init(
            Bundle.main.executableURL,
            [
                "phone", app, "--side", side.rawValue, "--clock", "\(clock)", "--settings", text,
                "--kill-at", "\(killAt)",
            ], isPhone: true)
    }

    /// - Parameters:
    ///   - executable: What is to run.
    ///   - arguments: Behind its name.
    init(_ executable: URL?, _ arguments: [String], isPhone: Bool = false) {
        self.isPhone = isPhone
        _ = Self.ignoresBrokenPipes
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = input
        process.standardError = FileHandle.nullDevice
    }

    /// Begins it. What it says comes until it has ended; nothing, if it is killed before it begins.
    ///
    /// - Parameter former: The process that had the same files: as on a phone, the app is not launched
    ///   again before that has ended. A process that dies holds the locks of its files for a moment more.
    package func start(after former: PhoneProcess? = nil) async throws -> AsyncStream<PhoneNews> {
        await former?.ended()
        // A slow reader skips to the newest: of screens and plans only the last counts.
        let (news, sink) = AsyncStream.makeStream(
            of: PhoneNews.self, bufferingPolicy: .bufferingNewest(64))
        let isWanted = life.withLock { life in
            life.hasStarted = !life.isKilled
            return life.hasStarted
        }
        guard isWanted else {
            end("It was killed before it began.")
            sink.finish()
            return news
        }
        let output = Pipe()
        process.standardOutput = output
        let asked = String(decoding: JSONLine.encode(ContinuousClock.now).dropLast(), as: UTF8.self)
        if isPhone { process.arguments? += ["--asked", asked] }
        do { try process.run() } catch {
            end("It cannot be started: \(error)")
            throw error
        }
        if life.withLock(\.isKilled) { kill9() }
        read(output, into: sink)
        return news
    }

    private func read(_ output: Pipe, into sink: AsyncStream<PhoneNews>.Continuation) {
        let descriptor = output.fileHandleForReading
        DispatchQueue(label: "tidemark.phone").async { [self] in
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
            end(isWell ? "The app has ended." : "The app crashed (\(process.terminationStatus)).")
            sink.finish()
        }
    }

    private func end(_ why: String) {
        let waiting = life.withLock { life in
            life.ending = life.ending ?? why
            defer { life.waiting = [] }
            return life.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when it has ended.
    package func ended() async {
        await withCheckedContinuation { continuation in
            let isOver = life.withLock { life in
                if life.ending == nil { life.waiting.append(continuation) }
                return life.ending != nil
            }
            if isOver { continuation.resume() }
        }
    }

    /// How it ended; nil while it goes on.
    package var ending: String? { life.withLock(\.ending) }

    package func tell(_ order: PhoneOrder) {
        // A process that is gone does not read, and the pipe says so with an error.
        writing.async { [input] in
            try? input.fileHandleForWriting.write(contentsOf: JSONLine.encode(order))
        }
    }

    /// At once, as a system does that needs the memory.
    package func kill9() {
        let hasStarted = life.withLock { life in
            life.isKilled = true
            return life.hasStarted
        }
        // One that has not begun ends in `start`, behind the former one.
        if hasStarted, process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}
