import NIOCore
import NIOPosix
import Testing

@testable import TidemarkCLI

struct `A call of a function` {
    private typealias Failure = FunctionCall.Failure

    /// A server that accepts no connection. The system itself opens as many as wait in its queue.
    private static func withDeafServer(
        queue: Int, _ body: (String, Int) async throws -> Void
    ) async throws {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: CInt(queue))
            .serverChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        do { try await body("http://127.0.0.1:\(port)/", port) } catch {
            try await server.close()
            throw error
        }
        try await server.close()
    }

    private static func reason(
        of address: String, within time: Duration, patience: Duration
    ) async -> (isUnreachable: Bool, reason: String)? {
        do throws(Failure) {
            _ = try await FunctionCall.post(
                [1], fields: [], to: address, within: time, upTo: 100, patience: patience)
            return nil
        } catch {
            if case .unreachable = error { return (true, error.reason) }
            return (false, error.reason)
        }
    }

    @Test func `that is connected and not answered ends at its limit`() async throws {
        try await Self.withDeafServer(queue: 16) { address, _ in
            let found = try #require(
                await Self.reason(of: address, within: .seconds(4), patience: .seconds(2)))
            #expect(found == (false, "no answer in time"))
        }
    }

    #if os(Linux)
        @Test func `to a host that opens no connection ends before its own limit`() async throws {
            try await Self.withDeafServer(queue: 1) { address, port in
                // Linux drops the calls for which its queue has no room. A connection that comes
                // late on a busy machine is in the queue too.
                let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .connectTimeout(.milliseconds(300))
                var opened: [any Channel] = []
                for _ in 0..<8 {
                    if let channel = try? await bootstrap.connect(host: "127.0.0.1", port: port)
                        .get()
                    {
                        opened.append(channel)
                    }
                }
                #expect(opened.count < 8)
                let found = try #require(
                    await Self.reason(
                        of: address, within: .seconds(60), patience: .milliseconds(300)))
                #expect(found == (true, "the connection took too long"))
                for channel in opened { try await channel.close() }
            }
        }
    #endif

    @Test func `to a port at which nothing listens fails at once`() async throws {
        var free = ""
        try await Self.withDeafServer(queue: 1) { address, _ in free = address }
        let found = try #require(
            await Self.reason(of: free, within: .seconds(60), patience: .seconds(60)))
        #expect(found == (true, "nothing listens there"))
    }
}
