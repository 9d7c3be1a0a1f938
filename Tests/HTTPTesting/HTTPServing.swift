package import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import TidemarkTesting

/// Serves on a port of this machine, on a separate thread, while `body` runs.
///
/// - Parameters:
///   - router: Answers the requests.
///   - body: Called once, with HOST:PORT. An error of `body` ends the server and is rethrown.
package func withServer(
    _ router: Router<BasicRequestContext>,
    _ body: @escaping @Sendable (String) async throws -> Void
) async throws {
    let (ports, input) = AsyncStream.makeStream(of: Int.self)
    // Hides the log lines about the start of the server and about connections that a test closes.
    var logger = Logger(label: "tidemark.test-server")
    logger.logLevel = .critical
    let application = Application(
        router: router,
        server: HTTPServerBuilder { KeptConnections(http: HTTP1Channel(responder: $0)) },
        configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { channel in input.yield(channel.localAddress?.port ?? 0) },
        logger: logger)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask(executorPreference: ServingThread("tidemark.test-server")) {
            try await application.run()
        }
        for await port in ports {
            try await body("127.0.0.1:\(port)")
            break
        }
        group.cancelAll()
    }
}

/// HTTP/1.1 connections that end with their server.
///
/// A server that ends releases the connections that it has accepted and not served. NIO ends the
/// process if an open connection is released, so each is kept until it is closed.
private struct KeptConnections: ServerChildChannel {
    let http: HTTP1Channel

    func setup(
        channel: any NIOCore.Channel, logger: Logger
    ) -> EventLoopFuture<HTTP1Channel.Value> {
        channel.parent?.closeFuture.whenComplete { _ in channel.close(promise: nil) }
        return http.setup(channel: channel, logger: logger).map { connection in
            channel.closeFuture.whenComplete { _ in withExtendedLifetime(connection) {} }
            return connection
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await http.handle(value: value, logger: logger)
    }
}
