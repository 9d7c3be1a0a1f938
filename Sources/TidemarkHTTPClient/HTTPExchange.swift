import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request and its answer, from the session's delegate to the caller.
///
/// URLSession on Linux calls the delegate on the queue of its transfers, see ``HTTPExchanges``. So
/// the functions that the delegate calls wait neither for that queue nor for the caller.
final class HTTPExchange: Sendable {
    private struct State {
        var redirects = 0
        var isOver = false
    }

    /// The parts of the answer that the caller has not taken yet.
    private struct Waiting {
        var head: HTTPPart?
        var body: HTTPBacklog
    }

    private let task: URLSessionTask
    private let state = Mutex(State())
    private let waiting: Mutex<Waiting>
    /// An element after parts have arrived, and the end of the answer.
    private let arrivals: AsyncThrowingStream<Void, any Error>
    private let arrived: AsyncThrowingStream<Void, any Error>.Continuation

    /// - Parameter limit: The maximum number of bytes on disk that wait for the caller.
    init(_ task: URLSessionTask, limit: Int) {
        self.task = task
        let folder = FileManager.default.temporaryDirectory.path
        waiting = Mutex(Waiting(body: HTTPBacklog(limit: limit, folder: folder)))
        // The stream keeps one element, which announces all parts that wait.
        (arrivals, arrived) = AsyncThrowingStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var id: ObjectIdentifier { ObjectIdentifier(task) }

    func start() { task.resume() }

    /// Ends the request, unless it is over.
    func cancel() {
        if end() { task.cancel() }
    }

    /// Marks the request as over, and returns false if it was over.
    ///
    /// URLSession on Linux crashes if a task is cancelled after it has asked about a redirect, and
    /// then answered. So the mark precedes the cancellation, and prevents the answer.
    private func end() -> Bool {
        state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
    }

    /// Calls `receive` with each part of the answer, and returns at its end.
    func deliver(to receive: (HTTPPart) async throws -> Void) async throws {
        for try await _ in arrivals {
            while let part = try takePart() {
                try await receive(part)
                try Task.checkCancellation()
            }
        }
    }

    private func takePart() throws -> HTTPPart? {
        try waiting.withLock { waiting in
            if let head = waiting.head.take() { return head }
            let bytes = try waiting.body.removeFirst()
            return bytes.isEmpty ? nil : .body(bytes)
        }
    }
}

// MARK: - Events of the session

extension HTTPExchange {
    func receive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else {
            return fail(URLError(.badServerResponse))
        }
        let fields = response.allHeaderFields.compactMap { field in
            (field.key as? String).map { (name: $0, value: "\(field.value)") }
        }
        waiting.withLock { $0.head = .head(status: response.statusCode, fields: fields) }
        arrived.yield()
    }

    func receive(_ data: Data) {
        // Bytes still arrive until the task is cancelled.
        if state.withLock({ $0.isOver }) { return }
        do { try waiting.withLock { try $0.body.append(data) } } catch { return fail(error) }
        arrived.yield()
    }

    /// - Parameters:
    ///   - most: The number of redirects that the request follows; 0 to receive the redirect.
    ///   - answer: Called at most once: with the next request, or with nil to receive the redirect.
    func redirect(to request: URLRequest, most: Int, _ answer: (URLRequest?) -> Void) {
        let isTooOften = state.withLock { state in
            // A cancelled task must not be answered.
            if state.isOver { return false }
            state.redirects += 1
            guard most == 0 || state.redirects <= most else { return true }
            answer(most == 0 ? nil : request)
            return false
        }
        if isTooOften { fail(URLError(.httpTooManyRedirects)) }
    }

    func complete(_ error: (any Error)?) {
        _ = end()
        arrived.finish(throwing: error)
    }

    func fail(_ error: any Error) {
        arrived.finish(throwing: error)
        if end() { HTTPExchanges.later { [task] in task.cancel() } }
    }
}

/// The delegate of a session, which passes events to the exchanges.
///
/// On Linux, URLSession adds an operation for every 16 KiB of a body to the delegate's queue, and
/// does not wait until the delegate has taken them: whole files waited there in a busy process. So
/// ``queue`` keeps no operations, but runs each immediately. The thread that runs them belongs to a
/// queue that all sessions of the process share, so a callback that waits would stop them all.
final class HTTPExchanges: NSObject, URLSessionDataDelegate {
    private let maxRedirects: Int
    /// The exchanges by their tasks. Several sessions can have tasks of the same number.
    private let running = Mutex<[ObjectIdentifier: HTTPExchange]>([:])

    init(maxRedirects: Int) { self.maxRedirects = maxRedirects }

    /// The delegate's queue for a session; nil for the queue that the session creates.
    static var queue: OperationQueue? {
        #if canImport(FoundationNetworking)
            ImmediateQueue()
        #else
            nil
        #endif
    }

    private static let laterCalls = DispatchQueue(label: "tidemark.http")

    /// Makes a call on another queue. Some functions of URLSession wait for the queue on which the
    /// delegate is called.
    static func later(_ call: @escaping @Sendable () -> Void) { laterCalls.async(execute: call) }

    var count: Int { running.withLock { $0.count } }

    func add(_ exchange: HTTPExchange) { running.withLock { $0[exchange.id] = exchange } }

    private func exchange(of task: URLSessionTask) -> HTTPExchange? {
        running.withLock { $0[ObjectIdentifier(task)] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        running.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }?.complete(error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        var request = request
        #if canImport(FoundationNetworking)
            // Linux resolves each relative address against the root.
            if let location = response.value(forHTTPHeaderField: "location"),
                let url = URL(string: location, relativeTo: response.url)
            {
                request.url = url.absoluteURL
            }
        #endif
        exchange(of: task)?.redirect(to: request, most: maxRedirects, completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // Linux asks after the whole answer of 401, and never completes without a password.
            exchange(of: task)?.complete(nil)
            Self.later { completionHandler(.cancelAuthenticationChallenge, nil) }
        #else
            completionHandler(.performDefaultHandling, nil)
        #endif
    }
}

#if canImport(FoundationNetworking)
    /// A queue that runs each block immediately, on the thread that adds the block.
    private final class ImmediateQueue: OperationQueue, @unchecked Sendable {
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    }
#endif
