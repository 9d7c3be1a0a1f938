import Foundation
import Hummingbird
public import TidemarkModel
public import TidemarkServer

/// The server's control endpoint over HTTP. It reports billed operations, and sets the clock and
/// the simulated faults.
///
/// - `GET /` answers that the server is alive. If there are pages, a browser gets the start page.
/// - `GET /tidemark/v1/meter` returns the billed operations by label, a JSON array of ``MeterRow``.
///   With `?by=label,client,target,method`, or some of these, it returns an array of
///   ``MeterDetail``, sorted by cost, highest first.
/// - `DELETE /tidemark/v1/meter` resets the counts.
/// - `PUT /tidemark/v1/label` with `{"label": TEXT}` counts calls without a label under that label
///   from now on, such as the name of a test. `DELETE` ends that.
/// - `GET /tidemark/v1/indexes` returns the indexes that queries have used and missed.
/// - `POST /tidemark/v1/clock` takes `{"time": microseconds since 1970, or null}`.
/// - `GET /tidemark/v1/faults` returns the simulated network, and the rules with the number of
///   times each was applied. `PUT` with `{"network": NAME, "rules": [RULE, …]}` replaces them; both
///   fields are optional. `DELETE` removes them all.
/// - `POST /login` takes a form with `token`. A browser that sends the server's token gets a
///   cookie, which replaces the token in later requests.
/// - `/tidemark/v1/rules` and the paths below it are those of ``RulesEndpoint``.
/// - `DELETE /emulator/v1/projects/P/databases/D/documents` removes every document of a database.
///
/// Errors are JSON with a sentence: `{"error": "…"}`. The status is 400 for a bad request, 401
/// without the server's token, 403 for a host or a page that ``WebPolicy`` does not allow, 404 and
/// 405 for an unknown path or method, 409 for a request that conflicts with the server's state, 413
/// for a body that is too large, 415 for a `POST` whose content type is not JSON, and 503 if the
/// store cannot be written.
///
/// A request's head must arrive in 30 s and its body in 60 s, and a connection can be idle for 2
/// minutes. Otherwise, the connection is closed.
public final class ControlServer: Sendable {
    /// The maximum size of a body, in bytes.
    static let maxBodyBytes = 4_096
    /// The maximum size of a body with faults, in bytes.
    static let maxFaultBytes = 65_536

    private let server: FirestoreServer
    private let host: String
    private let port: Int
    private let faults: FaultBoard?
    private let access: AccessToken?
    private let web: WebPolicy
    private let rules: (any WebPages)?
    private let pages: (any WebPages)?
    private let maxConnections: Int

    /// The default limit of open connections.
    public static let maxConnections = 1_000

    /// - Parameters:
    ///   - host: The address to listen on. Without a token, the endpoint serves every caller: then
    ///     use a loopback address.
    ///   - port: The port; 0 for a free port.
    ///   - faults: Accepts orders of faults; nil if the server simulates no faults.
    ///   - access: The token that every request must send as a bearer token; nil requires no token.
    ///   - web: The host names and pages that may call; nil allows those of loopback and of `host`.
    ///   - rules: Answers requests about security rules; nil uses the rules of `server`.
    ///   - pages: The pages at all other paths; nil serves no pages.
    ///   - maxConnections: The maximum number of open connections. A further connection is closed
    ///     immediately.
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
        self.maxConnections = maxConnections
    }

    /// Serves until the task is cancelled. Calls `ready` with the port when requests are accepted.
    ///
    /// - Throws: ``ControlServerError`` if the server cannot listen at the address.
    public func run(ready: @escaping @Sendable (_ port: Int) -> Void) async throws {
        let routes = ControlRoutes(
            server, faults: faults, access: access, web: web, rules: rules, pages: pages)
        let listener = PlainListener(host: host, port: port, maxConnections: maxConnections)
        try await listener.run(label: "tidemark.control", ready: ready) { request, context in
            await routes.respond(to: request, context)
        }
    }
}

/// The reason why the control endpoint is not served.
public struct ControlServerError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String
    public var description: String { message }
}
