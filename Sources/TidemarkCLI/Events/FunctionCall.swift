import Foundation
import NIOCore
import NIOPosix
import TidemarkHTTPClient
import TidemarkResilience

/// Posts to functions over HTTP.
enum FunctionCall {
    /// The calls have limits of their own, which are shorter.
    private static let session = HTTPSession(maxRedirects: 0, silence: .seconds(7_200))

    /// The end of a call without an answer, with its reason.
    enum Failure: Error {
        /// No connection was opened, so the call had no effect.
        case unreachable(String)
        case noAnswer(String)

        var reason: String {
            switch self {
            case .unreachable(let reason), .noAnswer(let reason): reason
            }
        }
    }

    /// Posts a body. A redirect is returned as an answer.
    ///
    /// - Parameters:
    ///   - time: The longest time of the call.
    ///   - limit: The maximum number of bytes of the answer that are returned.
    ///   - patience: The time without an answer after which the call checks if its function can be
    ///     reached, and the longest time of that check.
    static func post(
        _ body: [UInt8], fields: [(name: String, value: String)], to address: String,
        within time: Duration, upTo limit: Int, patience: Duration = .seconds(5)
    ) async throws(Failure) -> HTTPAnswer {
        let request = HTTPRequest("POST", address, fields: fields, body: body)
        do {
            return try await withTimeout(time) {
                try await withThrowingTaskGroup(of: HTTPAnswer?.self) { group in
                    defer { group.cancelAll() }
                    group.addTask { try await session.beginning(of: request, upTo: limit) }
                    group.addTask {
                        try await checkReach(of: address, patience)
                        return nil
                    }
                    for try await case let answer? in group { return answer }
                    throw CancellationError()
                }
            }
        } catch { throw failure(error) }
    }

    private static func failure(_ error: any Error) -> Failure {
        switch (error as? URLError)?.code {
        case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed:
            return .unreachable("nothing listens there")
        default:
            return error is AttemptTimedOut
                ? .noAnswer("no answer in time")
                : error as? Failure ?? .noAnswer(HTTPSession.explanation(error))
        }
    }

    /// Waits, and opens a connection that is not used. A session has one limit for the time to
    /// connect and the time of the answer, and only the first says that the call had no effect.
    ///
    /// - Throws: ``Failure/unreachable(_:)`` if that takes too long. The session reports the rest.
    private static func checkReach(of address: String, _ patience: Duration) async throws {
        try await Task.sleep(for: patience)
        guard let url = URL(string: address), let host = url.host(percentEncoded: false) else {
            return
        }
        do {
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connectTimeout(TimeAmount(patience))
                .connect(host: host, port: url.port ?? (url.scheme == "https" ? 443 : 80)).get()
            try await channel.close()
        } catch {
            if isTimeout(error) { throw Failure.unreachable("the connection took too long") }
        }
    }

    /// Returns true if the time passed at one of the host's addresses.
    private static func isTimeout(_ error: any Error) -> Bool {
        let errors = (error as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [error]
        return errors.contains { error in
            if case .connectTimeout? = error as? ChannelError { true } else { false }
        }
    }
}
