import NIOCore
import NIOPosix
import TestSupport
import Testing
import TidemarkServer

@testable import TidemarkHTTP

@Suite struct `A gate` {
    private static let group = MultiThreadedEventLoopGroup.singleton

    private func connects(to port: Int) async -> Bool {
        do {
            let channel = try await ClientBootstrap(group: Self.group)
                .connect(host: "127.0.0.1", port: port).get()
            try? await channel.close()
            return true
        } catch { return false }
    }

    /// Listens at a port as another process would; throws if the port is taken.
    private func take(_ port: Int) async throws -> any Channel {
        try await ServerBootstrap(group: Self.group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: "127.0.0.1", port: port).get()
    }

    @Test func `keeps its port while the network refuses connections`() async throws {
        let upstream = try await take(0)
        let gate = NetworkGate(host: "127.0.0.1", port: 0)
        let port = try await gate.open(to: try #require(upstream.localAddress?.port), .healthy)
        #expect(await connects(to: port))
        for _ in 0..<3 {
            try await gate.play(.refuse)
            try await gate.play(.refuse)
            #expect(await !connects(to: port))
            await #expect(throws: (any Error).self) { try await take(port) }
            try await gate.play(.healthy)
            #expect(await connects(to: port))
        }
        try await gate.play(.refuse)
        await gate.close()
        let other = try await take(port)
        try await other.close()
        try await upstream.close()
    }
}
