import Hummingbird
import Logging
import NIOCore
import TidemarkWire

/// A port for HTTP without TLS, with bounded connections and patience.
struct PlainListener: Sendable {
    /// The maximum number of ports that are tried for port 0.
    private static let maxAttempts = 8

    /// The address to listen on.
    let host: String
    /// The port; 0 for a free port.
    let port: Int
    /// The maximum number of open connections. A further connection is closed immediately.
    let maxConnections: Int

    /// Serves until the task is cancelled. Calls `ready` with the port when requests are accepted.
    ///
    /// - Parameter label: The name of the logger. No part of a request is logged: paths and bodies
    ///   contain credentials, and a caller receives each error.
    /// - Throws: ``ControlServerError`` if the server cannot listen at the address.
    func run(
        label: String, ready: @escaping @Sendable (_ port: Int) -> Void,
        answer: @escaping @Sendable (Request, ConnectionContext) async -> Response
    ) async throws {
        let connections = ConnectionLimit(most: maxConnections)
        var last = ControlServerError(message: "There is no free port on \(host).")
        for _ in 0..<(port == 0 ? Self.maxAttempts : 1) {
            // Hummingbird does not report the port that the system assigned, so this type chooses a
            // port. If another process takes that port first, the next port is tried.
            guard let chosen = port == 0 ? FreePort.find() : port else { break }
            do {
                return try await serve(
                    at: chosen, label: label, connections: connections, ready: ready,
                    answer: answer)
            } catch is CancellationError {
                return
            } catch {
                last = ControlServerError(message: "Cannot listen on \(host):\(chosen): \(error)")
            }
        }
        throw last
    }

    private func serve(
        at port: Int, label: String, connections: ConnectionLimit,
        ready: @escaping @Sendable (_ port: Int) -> Void,
        answer: @escaping @Sendable (Request, ConnectionContext) async -> Response
    ) async throws {
        var logger = Logger(label: label)
        logger.logLevel = .critical
        let application = Application(
            responder: CallbackResponder<ConnectionContext> { request, context in
                await answer(request, context)
            },
            server: .patient(),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { listener in
                try? await ListenerGuard.add(to: listener, connections).get()
                ready(port)
            }, logger: logger)
        try await application.run()
    }
}
