package import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends HTTP requests with the system's URLSession, and receives each answer in parts.
///
/// A session keeps no cookies, no cache and no credentials. It lives as long as the process, so
/// each use has one in a static property.
package final class HTTPSession: Sendable {
    private let configuration: URLSessionConfiguration
    private let session: URLSession
    private let exchanges: HTTPExchanges
    private let waitingLimit: Int

    /// - Parameters:
    ///   - maxRedirects: The number of redirects that a request follows. A request that is
    ///     redirected more often fails. With 0, the redirect itself is the answer.
    ///   - silence: The longest time without a byte from the server, which includes the time to
    ///     connect. At least a second, and counted in whole seconds.
    ///   - waitingLimit: The maximum size in bytes of the temporary file of a body that arrives
    ///     faster than it is received. A body that needs more fails.
    package init(maxRedirects: Int, silence: Duration, waitingLimit: Int = 256 << 20) {
        precondition(maxRedirects >= 0 && silence >= .seconds(1))
        configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = Double(silence.components.seconds)
        exchanges = HTTPExchanges(maxRedirects: maxRedirects)
        self.waitingLimit = waitingLimit
        session = URLSession(
            configuration: configuration, delegate: exchanges, delegateQueue: HTTPExchanges.queue)
    }

    /// Sends a request. Calls `receive` with the head and then with each part of the body, one
    /// after the other, and returns at the end of the body. A part of the body is at most 128 KiB.
    ///
    /// While `receive` runs, the next 128 KiB wait in memory, and what arrives after them in a
    /// temporary file without a name.
    ///
    /// - Throws: The error of `receive`, which ends the request; `CancellationError` immediately
    ///   if the task is cancelled; a `URLError` if no complete answer arrived, if the file exceeds
    ///   its limit, or if the disk refuses it.
    package func send(
        _ request: HTTPRequest, _ receive: (HTTPPart) async throws -> Void
    ) async throws {
        #if canImport(FoundationNetworking)
            // A body that is sent on a kept connection as the server closes it is lost, and
            // URLSession reports that only after the time of silence. A session of its own has no
            // kept connection. A field that asks the server to close is not enough: libcurl keeps
            // the connection until the server has closed it.
            if request.body != nil {
                let single = URLSession(
                    configuration: configuration, delegate: exchanges,
                    delegateQueue: HTTPExchanges.queue)
                defer { single.finishTasksAndInvalidate() }
                return try await send(request, in: single, receive)
            }
        #endif
        try await send(request, in: session, receive)
    }

    private func send(
        _ request: HTTPRequest, in session: URLSession,
        _ receive: (HTTPPart) async throws -> Void
    ) async throws {
        // A task that was never started would not report its end.
        try Task.checkCancellation()
        let exchange = HTTPExchange(
            session.dataTask(with: try request.message), limit: waitingLimit)
        exchanges.add(exchange)
        defer { exchange.cancel() }
        exchange.start()
        try await exchange.deliver(to: receive)
        // A cancelled task ends the sequence without an error.
        try Task.checkCancellation()
    }

    /// Sends a request, and returns its whole answer.
    ///
    /// - Parameter limit: The maximum size of the body in bytes.
    /// - Throws: As ``send(_:_:)``; `URLError.dataLengthExceedsMaximum` for a longer body.
    package func answer(to request: HTTPRequest, upTo limit: Int) async throws -> HTTPAnswer {
        var answer = HTTPAnswer(status: 0, fields: [], body: [])
        try await send(request) { part in
            switch part {
            case .head(let status, let fields): (answer.status, answer.fields) = (status, fields)
            case .body(let bytes):
                if bytes.count > limit - answer.body.count {
                    throw URLError(.dataLengthExceedsMaximum)
                }
                answer.body += bytes
            }
        }
        return answer
    }

    /// Sends a request, and returns the head of its answer as soon as it arrives, without a body.
    ///
    /// - Throws: As ``send(_:_:)``.
    package func head(of request: HTTPRequest) async throws -> HTTPAnswer {
        try await beginning(of: request, upTo: 0)
    }

    /// Sends a request, and returns its answer with at most `limit` bytes of the body, as soon as
    /// these have arrived. A body that breaks off is returned as far as it has arrived.
    ///
    /// - Throws: As ``send(_:_:)``, if the head has not arrived or the task is cancelled.
    package func beginning(of request: HTTPRequest, upTo limit: Int) async throws -> HTTPAnswer {
        var answer = HTTPAnswer(status: 0, fields: [], body: [])
        do {
            try await send(request) { part in
                switch part {
                case .head(let status, let fields):
                    (answer.status, answer.fields) = (status, fields)
                case .body(let bytes): answer.body += bytes.prefix(limit - answer.body.count)
                }
                if answer.body.count == limit { throw BeginningArrived() }
            }
        } catch {
            if error is CancellationError || answer.status == 0 { throw error }
        }
        return answer
    }

    /// Ends a request the rest of whose body is not needed.
    private struct BeginningArrived: Error {}

    /// Describes an error of a request in a word and a number, for a log.
    package static func reason(_ error: any Error) -> String {
        (error as? URLError).map { "URLError \($0.code.rawValue)" } ?? "\(type(of: error))"
    }

    /// Describes an error of a request in the system's words, for administrators of servers.
    package static func explanation(_ error: any Error) -> String {
        (error as? URLError)?.localizedDescription ?? "\(error)"
    }

    /// The number of requests that have not ended.
    package var running: Int { exchanges.count }
}

/// A request of an ``HTTPSession``.
package struct HTTPRequest: Sendable {
    package let method: String
    package let address: String
    package let fields: [(name: String, value: String)]
    package let body: Data?

    package init(
        _ method: String, _ address: String, fields: [(name: String, value: String)] = [],
        body: [UInt8]? = nil
    ) {
        self.init(method, address, fields: fields, data: body.map { Data($0) })
    }

    /// - Parameter data: The body, which is not copied here.
    package init(
        _ method: String, _ address: String, fields: [(name: String, value: String)], data: Data?
    ) {
        self.method = method
        self.address = address
        self.fields = fields
        body = data
    }

    /// - Throws: `URLError.badURL`.
    fileprivate var message: URLRequest {
        get throws {
            guard let url = URL(string: address), url.host != nil else { throw URLError(.badURL) }
            var message = URLRequest(url: url)
            message.httpMethod = method
            message.httpShouldHandleCookies = false
            for field in fields {
                message.setValue(field.value, forHTTPHeaderField: field.name)
            }
            guard let body else { return message }
            message.httpBody = body
            #if canImport(FoundationNetworking)
                message.setValue("close", forHTTPHeaderField: "connection")
            #endif
            return message
        }
    }
}

/// The answer to a request, with its body or without.
package struct HTTPAnswer: Sendable {
    package fileprivate(set) var status: Int
    package fileprivate(set) var fields: [(name: String, value: String)]
    package fileprivate(set) var body: [UInt8]

    /// Returns the first value of a field; the case of its name does not matter.
    package func field(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// A part of an answer: the head first, then parts of the body.
package enum HTTPPart: Sendable {
    case head(status: Int, fields: [(name: String, value: String)])
    case body([UInt8])
}
