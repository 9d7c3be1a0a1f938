package import Hummingbird
import Logging
import TidemarkHTTP
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
        router: router, server: .patient(),
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
