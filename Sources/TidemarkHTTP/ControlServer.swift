import Foundation
import Hummingbird
import Logging
import TidemarkModel
public import TidemarkServer

/// The server's control endpoint over HTTP: what it billed, and what time it has.
///
/// - `GET /` says that it is alive.
/// - `GET /tidemark/v1/meter`: the meter's rows as a JSON array.
/// - `GET /tidemark/v1/indexes`: which indexes queries have used and missed.
/// - `POST /tidemark/v1/clock` with `{"time": microseconds since 1970, or null}`.
///
/// Errors are JSON with a sentence: `{"error": "…"}`.
public final class ControlServer: Sendable {
    /// A body's greatest size, in bytes.
    static let maxBodyBytes = 4_096
    /// How many ports are tried when any will do.
    private static let maxAttempts = 8

    private let server: FirestoreServer
    private let host: String
    private let port: Int

    /// - Parameters:
    ///   - host: Nothing here asks who calls: keep it on loopback.
    ///   - port: 0 for a free one.
    public init(_ server: FirestoreServer, host: String, port: Int) {
        self.server = server
        self.host = host
        self.port = port
    }

    /// Serves until the task is cancelled. `ready` is told the port once requests are accepted.
    ///
    /// - Throws: ``ControlServerError`` when it cannot listen at that address.
    public func run(ready: @escaping @Sendable (_ port: Int) -> Void) async throws {
        var last = ControlServerError(message: "There is no free port on \(host).")
        for _ in 0..<(port == 0 ? Self.maxAttempts : 1) {
            // Hummingbird does not tell which port it was given, so one is chosen for it; another
            // process may take it first, and then the next is tried.
            guard let chosen = port == 0 ? FreePort.find() : port else { break }
            do { return try await serve(chosen, ready) } catch is CancellationError { return } catch
            {
                last = ControlServerError(message: "Cannot listen on \(host):\(chosen): \(error)")
            }
        }
        throw last
    }

    private func serve(
        _ port: Int, _ ready: @escaping @Sendable (_ port: Int) -> Void
    ) async throws {
        let routes = ControlRoutes(server)
        // What goes wrong is told to the caller; the library's own lines are for its authors.
        var logger = Logger(label: "tidemark.control")
        logger.logLevel = .critical
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { request, _ in
                await routes.respond(to: request)
            },
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { _ in ready(port) }, logger: logger)
        try await application.run()
    }
}

/// Why the control endpoint is not served.
public struct ControlServerError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String
    public var description: String { message }
}
