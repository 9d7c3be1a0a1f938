import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Receives the answers of a session's chunks, and owns the machine.
final class BackgroundDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private struct Exchange {
        let continuation: CheckedContinuation<UploadAnswer, any Error>
        var body: [UInt8] = []
    }

    private struct State {
        var chunks = BackgroundChunks()
        var exchanges: [Int: Exchange] = [:]
        var completion: (@Sendable () -> Void)?
        var perform: (@Sendable ([BackgroundChunks.Effect]) -> Void)?
        /// The effects of events that the system has sent before ``onEffects(_:)``.
        var early: [BackgroundChunks.Effect] = []
    }

    static let queue: OperationQueue = {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }()

    private let state = Mutex(State())

    var chunks: BackgroundChunks { state.withLock { $0.chunks } }
    var isSending: Bool { state.withLock { !$0.exchanges.isEmpty } }

    func onEffects(_ perform: @escaping @Sendable ([BackgroundChunks.Effect]) -> Void) {
        let early = state.withLock { state in
            state.perform = perform
            defer { state.early = [] }
            return state.early
        }
        if !early.isEmpty { perform(early) }
    }

    func step(_ event: BackgroundChunks.Event) {
        let (effects, perform) = state.withLock { state in
            let effects = state.chunks.step(event)
            if state.perform == nil { state.early += effects }
            return (effects, state.perform)
        }
        if !effects.isEmpty { perform?(effects) }
    }

    // MARK: A chunk of this process

    /// Starts a task and returns its answer. A cancellation cancels the task.
    func run(_ task: URLSessionUploadTask) async throws -> UploadAnswer {
        // A task that is cancelled before it was started may not report its end.
        let life = Mutex((isStarted: false, isCancelled: false))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let number = task.taskIdentifier
                state.withLock { $0.exchanges[number] = Exchange(continuation: continuation) }
                step(.started(number))
                task.resume()
                let isCancelled = life.withLock { life in
                    life.isStarted = true
                    return life.isCancelled
                }
                if isCancelled { task.cancel() }
            }
        } onCancel: {
            let isStarted = life.withLock { life in
                life.isCancelled = true
                return life.isStarted
            }
            if isStarted { task.cancel() }
        }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data
    ) {
        state.withLock { state in
            guard let count = state.exchanges[dataTask.taskIdentifier]?.body.count else { return }
            // A longer body is no metadata of an object.
            state.exchanges[dataTask.taskIdentifier]?.body +=
                data.prefix(StorageWire.maxBody - count)
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The redirect is the answer: a chunk is for its session alone.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        let exchange = state.withLock { $0.exchanges.removeValue(forKey: task.taskIdentifier) }
        step(.ended(task.taskIdentifier))
        guard let exchange else { return }
        if let error { return exchange.continuation.resume(throwing: error) }
        guard let response = task.response as? HTTPURLResponse else {
            return exchange.continuation.resume(throwing: URLError(.badServerResponse))
        }
        let fields = response.allHeaderFields.map { (name: "\($0.key)", value: "\($0.value)") }
        exchange.continuation.resume(
            returning: UploadAnswer(
                status: response.statusCode, fields: fields, body: exchange.body))
    }

    // MARK: A launch by the system

    func keep(_ completion: @escaping @Sendable () -> Void) {
        state.withLock { $0.completion = completion }
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        step(.delivered)
    }

    func answerSystem() {
        let completion = state.withLock { state in
            defer { state.completion = nil }
            return state.completion
        }
        // The system expects the call on the main queue.
        if let completion { DispatchQueue.main.async(execute: completion) }
    }
}
