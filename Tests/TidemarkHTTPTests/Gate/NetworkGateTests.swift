import NIOCore
import NIOPosix
import TestSupport
import Testing
import TidemarkServer

@testable import TidemarkHTTP

struct `A gate` {
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

    /// Passes on the bytes that it receives.
    private final class Sink: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let received: AsyncStream<ByteBuffer>.Continuation

        init(_ received: AsyncStream<ByteBuffer>.Continuation) { self.received = received }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received.yield(unwrapInboundIn(data))
        }
    }

    /// The pieces become due together while the network is silent, and are more than the gate's
    /// connection to the server takes at a time.
    @Test func `passes on held bytes once and in order`() async throws {
        let (arrived, input) = AsyncStream.makeStream(of: ByteBuffer.self)
        let upstream = try await ServerBootstrap(group: Self.group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Sink(input))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let gate = NetworkGate(host: "127.0.0.1", port: 0)
        let port = try await gate.open(to: try #require(upstream.localAddress?.port), .threeG)
        let client = try await ClientBootstrap(group: Self.group)
            .connect(host: "127.0.0.1", port: port).get()
        var sent = ByteBuffer()
        for number in UInt32(0)..<100_000 { sent.writeInteger(number) }
        try await client.writeAndFlush(sent)
        var (parts, received) = (arrived.makeAsyncIterator(), ByteBuffer())
        received.writeImmutableBuffer(try #require(await parts.next()))
        try await gate.play(.blackhole)
        // 400,000 bytes take two seconds.
        let due = ContinuousClock.now + .seconds(4)
        try await until("all pieces are due", within: .seconds(60)) { .now > due }
        try await gate.play(.healthy)
        while received.readableBytes < sent.readableBytes, let part = await parts.next() {
            received.writeImmutableBuffer(part)
        }
        #expect(received == sent)
        try await client.close()
        await gate.close()
        try await upstream.close()
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
