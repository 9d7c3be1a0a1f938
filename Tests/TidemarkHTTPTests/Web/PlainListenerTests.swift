import Hummingbird
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import TidemarkHTTP

@Suite(.timeLimit(.minutes(2))) struct PlainListenerTests {
    /// A connection that was accepted and not yet served when a port ended crashed the process.
    @Test func `a port ends while callers connect`() async throws {
        for _ in 0..<100 {
            let listener = PlainListener(host: "127.0.0.1", port: 0, maxConnections: 1_000)
            let (ports, ready) = AsyncStream.makeStream(of: Int.self)
            let serving = Task {
                try await listener.run(label: "test") {
                    ready.yield($0)
                } answer: { _, _ in
                    Response(status: .noContent)
                }
            }
            let port = try #require(await ports.first { _ in true })
            let calls = (0..<40).map { _ in
                ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: port)
            }
            _ = try? await calls[0].get()
            serving.cancel()
            try await serving.value
            for call in calls {
                if let caller = try? await call.get() { try? await caller.close() }
            }
        }
    }
}
