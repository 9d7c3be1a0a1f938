import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request and its answer, from the session's delegate to the caller.
final class HTTPExchange: Sendable {
    private struct State {
        /// The number of bytes that the caller has not taken yet.
        var waiting = 0
        var redirects = 0
        var isOver = false
    }

    /// The parts of the answer that the caller has not taken yet.
    let parts: AsyncThrowingStream<HTTPPart, any Error>
    private let input: AsyncThrowingStream<HTTPPart, any Error>.Continuation
    private let task: URLSessionTask
    private let state = Mutex(State())

    /// The maximum number of bytes that wait for the caller. URLSession cannot be paused on Linux.
    private static let maxWaiting = 16 << 20

    init(_ task: URLSessionTask) {
        self.task = task
        (parts, input) = AsyncThrowingStream.makeStream()
    }

    var id: Int { task.taskIdentifier }

    func start() { task.resume() }

    /// Ends the request, unless it is over.
    func cancel() {
        // Under the lock, because URLSession on Linux crashes if a task is cancelled after it has
        // asked about a redirect and before it is answered.
        state.withLock { state in
            if state.isOver { return }
            state.isOver = true
            task.cancel()
        }
    }

    /// Notes that the caller has taken a part.
    func took(_ part: HTTPPart) {
        guard case .body(let bytes) = part else { return }
        state.withLock { $0.waiting -= bytes.count }
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
        input.yield(.head(status: response.statusCode, fields: fields))
    }

    func receive(_ data: Data) {
        let waiting = state.withLock { state in
            state.waiting += data.count
            return state.waiting
        }
        if waiting > Self.maxWaiting { return fail(URLError(.dataLengthExceedsMaximum)) }
        input.yield(.body([UInt8](data)))
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
        state.withLock { $0.isOver = true }
        input.finish(throwing: error)
    }

    func fail(_ error: any Error) {
        input.finish(throwing: error)
        cancel()
    }
}

/// The delegate of a session, which passes events to the exchanges.
final class HTTPExchanges: NSObject, URLSessionDataDelegate {
    private let maxRedirects: Int
    /// The exchanges by the identifiers of their tasks.
    private let running = Mutex<[Int: HTTPExchange]>([:])

    init(maxRedirects: Int) { self.maxRedirects = maxRedirects }

    var count: Int { running.withLock { $0.count } }

    func add(_ exchange: HTTPExchange) { running.withLock { $0[exchange.id] = exchange } }

    private func exchange(of task: URLSessionTask) -> HTTPExchange? {
        running.withLock { $0[task.taskIdentifier] }
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
        running.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.complete(error)
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
            completionHandler(.cancelAuthenticationChallenge, nil)
        #else
            completionHandler(.performDefaultHandling, nil)
        #endif
    }
}
