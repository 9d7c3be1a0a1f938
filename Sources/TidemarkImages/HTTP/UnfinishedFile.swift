import Crypto
import Foundation
import Synchronization
import TidemarkResilience

/// A download that is written to the disk. It consists of a machine that decides, a file, a digest
/// that is updated with each part, and a header that is checked as soon as it has arrived.
///
/// An abandoned attempt can still run, but only the newest attempt writes.
final class UnfinishedFile: Sendable {
    /// The error with which the machine ended an attempt.
    struct Ended: Error {
        let error: PictureError
        let step: DownloadMachine.Step
    }

    private struct State {
        var machine: DownloadMachine
        var digest = SHA256()
        var header: HeaderWatch
        var attempt = 0
        var file: Int32 = -1
    }

    let path: String
    private let state: Mutex<State>

    init(_ path: String, known: Validity?, limits: PictureLimits) {
        self.path = path
        let machine = DownloadMachine(known: known, limit: limits.maximumBytes)
        state = Mutex(State(machine: machine, header: HeaderWatch(limits: limits)))
    }

    deinit {
        state.withLock { state in
            if state.file >= 0 { close(state.file) }
        }
        unlink(path)
    }

    var canResume: Bool { state.withLock { $0.machine.canResume } }
    var resumptions: Int { state.withLock { $0.machine.resumptions } }

    /// - Returns: The attempt's number, and the fields of its request.
    func begin() -> (attempt: Int, fields: [DownloadMachine.Field]) {
        state.withLock { state in
            state.attempt += 1
            guard case .ask(let fields) = state.machine.step(.begin) else {
                preconditionFailure("an attempt begins with a question")
            }
            return (state.attempt, fields)
        }
    }

    /// - Returns: The machine's step, which says if the body is wanted.
    func head(_ status: Int, _ fields: HTTPFields, attempt: Int) throws -> DownloadMachine.Step {
        try own(attempt) { state in
            let step = state.machine.step(.head(status: status, fields))
            switch step {
            case .receive(fromStart: true):
                try open(&state)
                state.digest = SHA256()
                state.header.restart()
            case .failed(let error, _): throw Ended(error: error, step: step)
            default: break
            }
            return step
        }
    }

    func body(_ bytes: [UInt8], attempt: Int) throws {
        try own(attempt) { state in
            let step = state.machine.step(.bytes(bytes.count))
            if case .failed(let error, _) = step { throw Ended(error: error, step: step) }
            try write(bytes, state.file)
            state.digest.update(data: bytes)
            do throws(PictureError) { try state.header.look(bytes) } catch {
                throw Ended(error: error, step: .failed(error, .init(.permanent)))
            }
        }
    }

    /// Ends an attempt.
    func end(isClean: Bool, attempt: Int) throws -> DownloadMachine.Step {
        try own(attempt) { state in
            let step = state.machine.step(isClean ? .end : .broke)
            if case .failed(let error, _) = step { throw Ended(error: error, step: step) }
            return step
        }
    }

    /// Returns the facts of the whole file: its size, its digest and the fields of the answer.
    func summary() -> (byteCount: Int, digest: String, fields: HTTPFields) {
        state.withLock { state in
            let digest = Hexadecimal.text(state.digest.finalize())
            return (state.machine.received, digest, state.machine.fields)
        }
    }

    private func own<Value>(
        _ attempt: Int, _ body: (inout sending State) throws -> Value
    ) throws -> Value {
        try state.withLock { state in
            if state.attempt != attempt { throw CancellationError() }
            return try body(&state)
        }
    }

    private func open(_ state: inout State) throws {
        if state.file >= 0 { close(state.file) }
        state.file = Foundation.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        if state.file < 0 { throw Self.diskFailure }
    }

    private static let diskFailure = Ended(
        error: .storageFailed, step: .failed(.storageFailed, .init(.permanent)))

    private func write(_ bytes: [UInt8], _ file: Int32) throws {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { memory in
                Foundation.write(file, memory.baseAddress! + written, memory.count - written)
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { throw Self.diskFailure }
            written += count
        }
    }
}

/// Looks at the first bytes of a download until they show its format. So a file that is no picture,
/// or a picture that is too large, is not downloaded to its end.
struct HeaderWatch {
    /// The maximum number of bytes to search for a header. A header behind them is checked when the
    /// download is complete.
    private static let maximumBytes = 256 << 10

    private let limits: PictureLimits
    private var bytes: [UInt8] = []
    private var lookAt = 1
    private var isDone = false

    init(limits: PictureLimits) { self.limits = limits }

    mutating func restart() { self = HeaderWatch(limits: limits) }

    mutating func look(_ more: [UInt8]) throws(PictureError) {
        if isDone { return }
        bytes += more.prefix(Self.maximumBytes - bytes.count)
        // The threshold doubles each time, so small parts do not make this slow.
        if bytes.count < lookAt { return }
        lookAt = 2 * bytes.count
        let header: PictureHeader
        do throws(PictureHeader.Problem) { header = try PictureHeader(bytes) } catch {
            if error != .needsMoreBytes { throw PictureError(error) }
            if bytes.count == Self.maximumBytes { finish() }
            return
        }
        finish()
        try limits.check(header)
    }

    private mutating func finish() {
        isDone = true
        bytes = []
    }
}
