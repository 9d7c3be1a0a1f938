import Dispatch
import Foundation
import Synchronization
import Tidemark

/// The clocks and the random numbers of an outbox.
struct FileEnvironment: Sendable {
    var clock: any Clock<Duration> = ContinuousClock()
    /// Returns seconds since 1970 by the device's clock.
    var now: @Sendable () -> Int64
    /// Returns a random number in `0 ..< 1`.
    var random: @Sendable () -> Double = { .random(in: 0..<1) }
}

/// Runs functions that wait for the disk on another thread than those of tasks.
enum DiskThread {
    private static let queue = DispatchQueue(label: "tidemark.files", attributes: .concurrent)

    static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}

/// Controls a run from outside: lets it yield, and ends its waits.
final class RunControl: Sendable {
    private struct State {
        var yields = false
        var sleeper: Task<Void, Never>?
        /// True if ``wake()`` was called since the last request began, and ended no wait.
        var isWoken = false
    }

    private let state = Mutex(State())

    /// True if the run should end before its next chunk.
    var isYielding: Bool { state.withLock { $0.yields } }

    func yield() { state.withLock { $0.yields = true } }

    /// Ends the present wait, because the network has perhaps returned. If the run does not wait,
    /// ends its next wait: the old network may lose the request that is on its way.
    func wake() {
        let sleeper = state.withLock { state in
            state.isWoken = state.sleeper == nil
            return state.sleeper
        }
        sleeper?.cancel()
    }

    /// Notes that a request begins: an earlier ``wake()`` has had its effect.
    func beginRequest() { state.withLock { $0.isWoken = false } }

    /// Waits until the time has passed, ``wake()`` is called or the task is cancelled. Does not
    /// wait if ``wake()`` was called since the last request began.
    func sleep(_ time: Duration, on clock: any Clock<Duration>) async {
        if time <= .zero { return await Task.yield() }
        let started: Task<Void, Never>? = state.withLock { state in
            if state.isWoken {
                state.isWoken = false
                return nil
            }
            let sleeper = Task<Void, Never> { _ = try? await clock.sleep(for: time) }
            state.sleeper = sleeper
            return sleeper
        }
        guard let sleeper = started else { return await Task.yield() }
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
        state.withLock { $0.sleeper = nil }
    }
}

/// Performs the effects of an ``UploadMachine`` for one file, until the upload ends or yields.
struct UploadRun: Sendable {
    enum End: Hashable, Sendable {
        case finished
        case failed(UploadProblem)
        /// Another file is sent first; the upload continues later.
        case yielded
        /// The file no longer waits, or nothing can be stored now.
        case stopped
    }

    /// The number of the file.
    let id: Int64
    let target: UploadTarget
    let facts: FileFacts
    let folder: FileFolder
    let session: UserSession
    let client: StorageClient
    let environment: FileEnvironment
    let control: RunControl
    let onProgress: @Sendable (Int64) async -> Void
    let onPause: @Sendable (Bool) async -> Void

    func run() async -> End {
        guard let record = await storedRecord() else { return .stopped }
        var machine = UploadMachine(target, record)
        let comparison = CopyComparison(facts, in: folder)
        defer { comparison.cancel() }
        let began = ContinuousClock.now
        var event = UploadMachine.Event.begin
        while !Task.isCancelled {
            let moment = UploadMachine.Moment(
                now: environment.now(), elapsed: ContinuousClock.now - began,
                jitter: environment.random())
            var next: UploadMachine.Event?
            for effect in machine.step(event, at: moment) {
                switch await perform(effect, machine.record, comparison) {
                case .goOn: break
                case .event(let event): next = event
                case .end(let end): return end
                }
            }
            guard let next else { preconditionFailure("a step of an upload leads to an event") }
            event = next
        }
        return .stopped
    }

    private enum Step {
        case goOn
        case event(UploadMachine.Event)
        case end(End)
    }

    private func perform(
        _ effect: UploadMachine.Effect, _ record: UploadRecord, _ comparison: CopyComparison
    ) async -> Step {
        switch effect {
        case .store(let record):
            if await keep(record) { return .goOn }
            // A new session that nobody remembers.
            if let session = record.session, session.confirmed == 0 { cancel(session.address) }
            return .end(.stopped)
        case .progress(let bytes):
            await onProgress(bytes)
            return .goOn
        case .cancel(let address):
            cancel(address)
            return .goOn
        case .checkCopy: return .event(.copy(await comparison.begin()))
        case .compareCopy: return .event(.copy(await comparison.end()))
        case .send(let request):
            // A large file yields before its request: its session is asked for the offset later.
            if control.isYielding { return .end(.yielded) }
            control.beginRequest()
            return .event(await send(request, comparison))
        case .refreshToken: return .event(.refreshed(isDone: await client.tokens.replace()))
        case .wait(let time):
            if control.isYielding { return .end(.yielded) }
            await onPause(true)
            await control.sleep(time, on: environment.clock)
            await onPause(false)
            return .event(.ready)
        case .finished: return .end(await finish(record))
        case .failed(let problem): return .end(await fail(record, problem))
        }
    }

    /// Ends a session, and does not wait for the answer.
    private func cancel(_ address: String) {
        Task { [client, session] in await client.cancel(address, of: session.user) }
    }

    private func send(
        _ request: UploadMachine.Request, _ comparison: CopyComparison
    ) async -> UploadMachine.Event {
        var chunk = Data()
        if case .chunk(_, let offset, let length, _) = request {
            guard let bytes = await read(offset, length) else {
                let state = await comparison.look()
                return .copy(state == .same ? .unreadable : state)
            }
            chunk = bytes
        }
        do {
            return .answer(
                try await client.send(
                    request, target, of: session.user, chunk: chunk, file: id))
        } catch { return .broke }
    }

    // MARK: The copy

    private func read(_ offset: Int64, _ count: Int) async -> Data? {
        if count == 0 { return Data() }
        return await DiskThread.run { [folder, facts] in
            folder.copy(facts.copy).flatMap { FileCopy.read($0, from: offset, count: count) }
        }
    }

    // MARK: The journal

    /// Returns the newest record. An earlier run of this process may just have stored it.
    private func storedRecord() async -> UploadRecord? {
        let file: QueuedFile? = await withCheckedContinuation { continuation in
            session.file(id) { continuation.resume(returning: (try? $0.get()) ?? nil) }
        }
        guard let file, file.state == .waiting else { return nil }
        return FileCoding.upload(file.upload).record
    }

    /// A session and the note of a possible object must survive a loss of power; confirmed bytes
    /// are a hint.
    private func keep(_ record: UploadRecord) async -> Bool {
        let bytes = FileCoding.encode(UploadState(record: record))
        let isSynced = record.session == nil || record.session?.confirmed == 0 || record.mayExist
        return await stored {
            session.keepUpload(bytes, of: id, isSynced: isSynced, completion: $0)
        }
    }

    private func finish(_ record: UploadRecord) async -> End {
        let bytes = FileCoding.encode(UploadState(record: record))
        return await stored { session.finishFile(id, bytes, completion: $0) }
            ? .finished : .stopped
    }

    private func fail(_ record: UploadRecord, _ problem: UploadProblem) async -> End {
        let bytes = FileCoding.encode(UploadState(record: record, problem: problem))
        return await stored { session.failFile(id, bytes, completion: $0) }
            ? .failed(problem) : .stopped
    }

    private func stored(
        _ call: (@escaping @Sendable (Result<Bool, SyncError>) -> Void) -> Void
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            call { continuation.resume(returning: (try? $0.get()) ?? false) }
        }
    }
}
