import Foundation
import Synchronization

/// An upload without a journal: it ends with the process.
struct DirectUpload: Sendable {
    /// The bytes of an upload, read part by part.
    struct Source: Sendable {
        let digest: FileDigest
        /// Returns a part; nil if the bytes are not all there.
        let read: @Sendable (_ offset: Int64, _ count: Int) async -> Data?
    }

    /// The record of an upload that is paused and continued.
    final class Memory: Sendable {
        private let state = Mutex(UploadRecord())

        var record: UploadRecord {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    let target: UploadTarget
    let source: Source
    let storage: Storage
    let memory = Memory()
    var onProgress: (@Sendable (Int64) -> Void)?

    /// Uploads until the object is complete and compared. A later call continues behind the bytes
    /// that Storage has.
    func run() async throws(StorageError) {
        var machine = UploadMachine(target, memory.record)
        var event = UploadMachine.Event.begin
        let began = ContinuousClock.now
        var lastProgress = began
        var furthest: Int64 = -1
        while true {
            if Task.isCancelled { throw .cancelled }
            let moment = UploadMachine.Moment(
                now: storage.environment.now(), elapsed: ContinuousClock.now - began,
                jitter: storage.environment.random())
            for effect in machine.step(event, at: moment) {
                switch effect {
                case .store(let record): memory.record = record
                case .progress(let bytes):
                    if bytes > furthest { lastProgress = ContinuousClock.now }
                    furthest = max(furthest, bytes)
                    onProgress?(bytes)
                case .cancel(let address): endSession(address)
                case .checkCopy, .compareCopy: event = .copy(.same)
                case .send(let request): event = await send(request)
                case .refreshToken:
                    event = .refreshed(isDone: await storage.client.tokens.replace())
                case .wait(let time):
                    let limit = Duration.seconds(storage.maxUploadRetryTime)
                    if ContinuousClock.now + time - lastProgress > limit {
                        throw .retryLimitExceeded
                    }
                    _ = try? await storage.environment.clock.sleep(for: time)
                    event = .ready
                case .finished: return
                case .failed(let problem):
                    throw StorageError(problem, bucket: target.bucket, object: target.name)
                }
            }
        }
    }

    /// Ends the session of an upload that is given up.
    func abandon() {
        if let session = memory.record.session { endSession(session.address) }
    }

    private func endSession(_ address: String) {
        Task { [client = storage.client] in await client.cancel(address, of: []) }
    }

    private func send(_ request: UploadMachine.Request) async -> UploadMachine.Event {
        var chunk = Data()
        if case .chunk(_, let offset, let length, _) = request {
            guard let bytes = await source.read(offset, length), bytes.count == length else {
                return .copy(.missing)
            }
            chunk = bytes
        }
        do {
            return .answer(try await storage.client.send(request, target, of: [], chunk: chunk))
        } catch { return .broke }
    }
}
