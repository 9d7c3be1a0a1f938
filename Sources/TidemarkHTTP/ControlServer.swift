import Foundation
import Hummingbird
import Logging
public import TidemarkModel
public import TidemarkServer
import TidemarkWire

/// The server's control endpoint over HTTP: what it billed, what time it has, what goes wrong.
///
/// - `GET /` says that it is alive; where there are pages, a browser gets the first of them.
/// - `GET /tidemark/v1/meter`: what was billed by label, a JSON array of ``MeterRow``;
///   `?by=label,client,target,method`, or any of these: an array of ``MeterDetail``, the dearest first.
/// - `DELETE /tidemark/v1/meter` begins to count again.
/// - `GET /tidemark/v1/indexes`: which indexes queries have used and missed.
/// - `POST /tidemark/v1/clock` with `{"time": microseconds since 1970, or null}`.
/// - `GET /tidemark/v1/faults`: the network that is played, and the rules with how often each has
///   applied. `PUT` with `{"network": NAME, "rules": [RULE, …]}`, either of which may be missing, puts
///   others in their place; `DELETE` ends them all.
/// - `POST /login` with a form's `token`: a browser that shows the server's token is given a cookie, which
///   then stands for it.
/// - `/tidemark/v1/rules` and what lies below it: see ``RulesEndpoint``.
/// - `DELETE /emulator/v1/projects/P/databases/D/documents` removes every document of a database.
///
/// Errors are JSON with a sentence: `{"error": "…"}`, with status 400 for a bad request, 401 without the
/// server's token, 403 for a host or a page that ``WebPolicy`` does not know, 404 and 405 for what is not
/// there, 409 for what cannot be done now, 413 for a body that is too large, 415 for a `POST` that is not
/// said to be JSON, 503 when the store cannot be written to.
///
/// A request's head arrives in 30 s and its body in 60 s, or the connection is closed; so is one that asks
/// for nothing in 2 minutes.
public final class ControlServer: Sendable {
    /// A body's greatest size, in bytes.
    static let maxBodyBytes = 4_096
    /// Of an order of faults.
    static let maxFaultBytes = 65_536
    /// How many ports are tried when any will do.
    private static let maxAttempts = 8

    private let server: FirestoreServer
    private let host: String
    private let port: Int
    private let faults: FaultBoard?
    private let access: AccessToken?
    private let web: WebPolicy
    private let rules: (any WebPages)?
    private let pages: (any WebPages)?
    private let connections: ConnectionLimit

    /// Connections where nothing else is said.
    public static let maxConnections = 1_000

    /// - Parameters:
    ///   - host: Without a token nothing here asks who calls: keep it on loopback then.
    ///   - port: 0 for a free one.
    ///   - faults: Where faults are ordered; nil where they cannot be.
    ///   - access: What every request must show as a bearer token; nil asks for nothing.
    ///   - web: Which names and pages may call; nil for loopback's and `host`.
    ///   - rules: What is asked of security rules; nil for what the server itself knows of them.
    ///   - pages: What a browser is shown at the other paths; nil for nothing.
    ///   - maxConnections: How many may be open; one more is closed as it comes.
    public init(
        _ server: FirestoreServer, host: String, port: Int, faults: FaultBoard? = nil,
        access: AccessToken? = nil, web: WebPolicy? = nil, rules: (any WebPages)? = nil,
        pages: (any WebPages)? = nil, maxConnections: Int = ControlServer.maxConnections
    ) {
        self.server = server
        self.faults = faults
        self.access = access
        self.web = web ?? WebPolicy(listeningOn: host)
        self.rules = rules ?? RulesEndpoint(server)
        self.pages = pages
        self.host = host
        self.port = port
        connections = ConnectionLimit(most: maxConnections)
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
        let routes = ControlRoutes(server, faults, access, web, rules, pages)
        // What goes wrong is told to the caller; the library's own lines are for its authors.
        var logger = Logger(label: "tidemark.control")
        logger.logLevel = .critical
        let application = Application(
            responder: CallbackResponder<ConnectionContext> { request, context in
                await routes.respond(to: request, context)
            },
            server: PatientConnections.server(RequestPatience()),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { [connections] listener in
                try? await ListenerGuard.add(to: listener, connections).get()
                ready(port)
            }, logger: logger)
        try await application.run()
    }
}

/// Why the control endpoint is not served.
public struct ControlServerError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String
    public var description: String { message }
}
