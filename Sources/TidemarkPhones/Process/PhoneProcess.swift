import Dispatch
package import ExampleKit
import Foundation
import Synchronization

/// The parent's handle of a phone's process.
package final class PhoneProcess: Sendable {
    private struct Life {
        var hasStarted = false
        var isKilled = false
        /// The way in which the process ended; nil while it runs.
        var ending: String?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// Ignores SIGPIPE: writing to a killed phone must not end its parent.
    private static let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    private let process = Process()
    private let input = Pipe()
    /// False for a script of a test.
    private let isPhone: Bool
    private let life = Mutex(Life())
    private let writing = DispatchQueue(label: "tidemark.phone.orders")

    /// Makes a process of this executable that plays a phone.
    ///
    /// - Parameters:
    ///   - clock: The time by which the phone's clock is ahead, in seconds.
    ///   - killAt: The step of a sign-up at which the process kills itself; 0 for none.
    package convenience init(
        app: String, side: PhoneSide, settings: PhoneSettings, clock: Double = 0,
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
    ///   - executable: The program to run.
    ///   - arguments: The arguments of the program.
    init(_ executable: URL?, _ arguments: [String], isPhone: Bool = false) {
        self.isPhone = isPhone
        _ = Self.ignoresBrokenPipes
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = input
        process.standardError = FileHandle.nullDevice
    }

    /// Starts the process and returns its reports until it ends. There are none if the process is
    /// killed before it starts.
    ///
    /// - Parameter former: The previous process with the same files. As on a phone, the app starts
    ///   only after that process has ended, because a dying process still holds its file locks for
    ///   a moment.
    package func start(after former: PhoneProcess? = nil) async throws -> AsyncStream<PhoneNews> {
        await former?.ended()
        // A slow reader skips to the newest reports, because only the last screen and plan matter.
        let (news, sink) = AsyncStream.makeStream(
            of: PhoneNews.self, bufferingPolicy: .bufferingNewest(64))
        let isWanted = life.withLock { life in
            life.hasStarted = !life.isKilled
            return life.hasStarted
        }
        guard isWanted else {
            end("The app was killed before it started.")
            sink.finish()
            return news
        }
        let output = Pipe()
        process.standardOutput = output
        let asked = String(decoding: JSONLine.encode(ContinuousClock.now).dropLast(), as: UTF8.self)
        if isPhone { process.arguments? += ["--asked", asked] }
        do { try process.run() } catch {
            end("The app cannot be started: \(error)")
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
                    // The output is not from a phone.
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

    /// Returns when the process has ended.
    package func ended() async {
        await withCheckedContinuation { continuation in
            let isOver = life.withLock { life in
                if life.ending == nil { life.waiting.append(continuation) }
                return life.ending != nil
            }
            if isOver { continuation.resume() }
        }
    }

    /// The way in which the process ended; nil while it runs.
    package var ending: String? { life.withLock(\.ending) }

    package func notify(_ order: PhoneOrder) {
        // Writing to the pipe of an ended process fails, which is ignored.
        writing.async { [input] in
            try? input.fileHandleForWriting.write(contentsOf: JSONLine.encode(order))
        }
    }

    /// Kills the process without warning, as a system does that needs memory.
    package func kill9() {
        let hasStarted = life.withLock { life in
            life.isKilled = true
            return life.hasStarted
        }
        // A process that has not started ends in `start`, after the previous one.
        if hasStarted, process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}
