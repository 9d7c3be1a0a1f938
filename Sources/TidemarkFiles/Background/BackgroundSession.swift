import Foundation
import Synchronization
import TidemarkHTTPClient
import TidemarkSystem

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends chunks in a session of the system, from a file for each, and performs the effects of
/// ``BackgroundChunks``.
final class BackgroundSession: Sendable {
    typealias Chunk = BackgroundChunks.Chunk

    let identifier: String
    /// The folder of the chunks' bytes, which the system reads.
    private let folder: String
    private let clock: any Clock<Duration>
    private let delegate: BackgroundDelegate
    private let session: URLSession

    /// - Parameters:
    ///   - identifier: The name of the session, which no other session of the app has.
    ///   - configuration: The session's configuration; tests have their own.
    init(
        _ identifier: String, folder: String, clock: any Clock<Duration>,
        configuration: URLSessionConfiguration? = nil
    ) {
        self.identifier = identifier
        self.folder = folder
        self.clock = clock
        delegate = BackgroundDelegate()
        session = URLSession(
            configuration: configuration ?? BackgroundConfiguration.make(identifier),
            delegate: delegate, delegateQueue: BackgroundDelegate.queue)
    }

    deinit { session.finishTasksAndInvalidate() }

    // MARK: Earlier processes

    /// Asks the system for the chunks of earlier processes. No upload begins before.
    ///
    /// - Parameter onLook: Called when a file may have become free.
    func begin(onLook: @escaping @Sendable () -> Void) async {
        delegate.onEffects { [weak self] effects in
            for effect in effects { self?.perform(effect, onLook) }
        }
        let tasks = await withCheckedContinuation { continuation in
            session.getAllTasks { continuation.resume(returning: $0) }
        }
        // Nobody reads the files of chunks that have ended.
        if tasks.isEmpty, !delegate.isSending {
            await DiskThread.run { [folder] in
                try? FileManager.default.removeItem(atPath: folder)
            }
        }
        let known = tasks.map { task in
            let chunk = task.taskDescription.flatMap { text in
                try? JSONDecoder().decode(Chunk.self, from: Data(text.utf8))
            }
            return (task.taskIdentifier, chunk)
        }
        delegate.step(.found(Dictionary(known, uniquingKeysWith: { $1 })))
    }

    private func perform(
        _ effect: BackgroundChunks.Effect, _ onLook: @escaping @Sendable () -> Void
    ) {
        switch effect {
        case .cancel(let number):
            session.getAllTasks { tasks in
                tasks.first { $0.taskIdentifier == number }?.cancel()
            }
        case .wait(let number): later(.late(number), after: BackgroundChunks.patience)
        case .waitForChunk: later(.deliveryLate, after: BackgroundChunks.longestDelivery)
        case .look: onLook()
        case .answerSystem: delegate.answerSystem()
        }
    }

    private func later(_ event: BackgroundChunks.Event, after time: Duration) {
        Task { [weak self, clock] in
            try? await clock.sleep(for: time)
            self?.delegate.step(event)
        }
    }

    func holds(_ file: Int64, of user: [UInt8]) -> Bool {
        delegate.chunks.holds(file, of: Chunk.text(user))
    }

    /// The files of a user that have a chunk of an earlier process.
    func found(of user: [UInt8]) -> Set<Int64> {
        let user = Chunk.text(user)
        return Set(delegate.chunks.found.values.filter { $0.user == user }.map(\.file))
    }

    /// Cancels the found chunks of a file that are not sent to its present session.
    ///
    /// - Parameter address: The session's address; nil if the file does not wait.
    func compare(_ file: Int64, of user: [UInt8], address: String?) {
        delegate.step(
            .row(
                file: file, user: Chunk.text(user), session: address.map { Chunk.digest(of: $0) }))
    }

    /// Takes the system's call that it has launched the app for this session.
    ///
    /// - Parameter completion: Called on the main queue when the next chunk has started, or after
    ///   some seconds.
    func handleEvents(_ completion: @escaping @Sendable () -> Void) {
        delegate.keep(completion)
    }

    /// Notes that the system has delivered the ends of chunks.
    func delivered() { delegate.step(.delivered) }

    // MARK: Sending

    /// Sends a chunk, and returns its answer. If the process ends, the system continues the chunk.
    ///
    /// - Throws: `CancellationError`, which cancels the chunk; a `URLError` if no complete answer
    ///   arrived or the bytes cannot be stored.
    func send(_ request: HTTPRequest, bytes: Data, _ chunk: Chunk) async throws -> UploadAnswer {
        guard let url = URL(string: request.address) else { throw URLError(.badURL) }
        var message = URLRequest(url: url)
        message.httpMethod = request.method
        for field in request.fields {
            message.setValue(field.value, forHTTPHeaderField: field.name)
        }
        let file = folder + "/" + UUID().uuidString
        let isStored = await DiskThread.run { [folder] in
            PrivateFiles.makeFolder(folder) == 0 && Self.store(bytes, at: file)
        }
        defer { unlink(file) }
        guard isStored else { throw URLError(.cannotCreateFile) }
        let task = BackgroundConfiguration.task(message, bytes: bytes, file: file, in: session)
        // Numbers and text can always be encoded.
        task.taskDescription = String(
            decoding: (try? JSONEncoder().encode(chunk)) ?? Data(), as: UTF8.self)
        return try await delegate.run(task)
    }

    private static func store(_ bytes: Data, at path: String) -> Bool {
        let file = PrivateFiles.create(path)
        if file < 0 { return false }
        defer { close(file) }
        return bytes.withUnsafeBytes { FileCopy.write($0, to: file) } == 0
    }
}
