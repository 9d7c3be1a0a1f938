import Foundation
import NIOCore
import NIOPosix
import TestSupport
import Testing
import TidemarkServer
import TidemarkWire

@testable import TidemarkHTTP

/// A port handles exhausted system resources, and too many connections.
struct PortBoundsTests {
    private static func listener(_ limit: ConnectionLimit) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ListenerGuard(limit))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    private static func connect(_ listener: any Channel) async throws -> any Channel {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: listener.localAddress!.port!).get()
    }

    @Test(arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED])
    func `a port waits for a while and goes on when the system has nothing left`(
        code: CInt
    ) async throws {
        let listener = try await Self.listener(ConnectionLimit(most: 10))
        let seen = ErrorsSeen()
        try await listener.eventLoop.submit {
            try listener.pipeline.syncOperations.addHandler(seen.handler)
        }.get()
        listener.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept"))
        let isWaiting = try await listener.getOption(.autoRead).get()
        #expect(!isWaiting, "it does not ask the system again at once")
        let client = try await Self.connect(listener)
        try await listener.eventLoop.scheduleTask(in: .milliseconds(150)) {}.futureResult.get()
        #expect(try await listener.getOption(.autoRead).get())
        #expect(listener.isActive && seen.count == 0)
        try await client.close()
        try await listener.close()
    }

    @Test func `other errors go on to whoever waits for connections`() async throws {
        let listener = try await Self.listener(ConnectionLimit(most: 10))
        let seen = ErrorsSeen()
        try await listener.eventLoop.submit {
            try listener.pipeline.syncOperations.addHandler(seen.handler)
        }.get()
        listener.pipeline.fireErrorCaught(IOError(errnoCode: EBADF, reason: "accept"))
        _ = try await listener.getOption(.autoRead).get()
        #expect(seen.count == 1)
        try await listener.close()
    }

    @Test func `a connection more than there may be is closed, and room is made again`()
        async throws
    {
        let limit = ConnectionLimit(most: 3)
        let listener = try await Self.listener(limit)
        var clients: [any Channel] = []
        for _ in 0..<3 { clients.append(try await Self.connect(listener)) }
        try await until { limit.count == 3 }
        let late = try await Self.connect(listener)
        try await late.closeFuture.get()
        #expect(limit.count == 3 && clients.allSatisfy(\.isActive))
        try await clients.removeLast().close()
        try await until { limit.count == 2 }
        clients.append(try await Self.connect(listener))
        try await until { limit.count == 3 }
        for client in clients { try await client.close() }
        try await listener.close()
    }

    @Test func `guesses are few, and come back one a second`() {
        let now = TestTime()
        let limit = GuessLimit { now.value }
        let wrong = (0..<30).map { _ in limit.take("192.168.1.5") }
        #expect(wrong.filter(\.self).count == GuessLimit.burst)
        #expect(limit.take("192.168.1.6"), "others are not concerned")
        now.value = .seconds(2)
        #expect(limit.take("192.168.1.5") && limit.take("192.168.1.5"))
        #expect(!limit.take("192.168.1.5"))
        now.value = .seconds(3)
        for _ in 0..<100 {
            #expect(limit.take("192.168.1.5"), "a right token gives its try back")
            limit.giveBack("192.168.1.5")
        }
    }

    @Test func `guesses from very many addresses are remembered of half of them`() {
        let limit = GuessLimit { .zero }
        for _ in 0..<GuessLimit.burst { _ = limit.take("first") }
        for number in 0..<25_000 { _ = limit.take("\(number)") }
        #expect(!limit.take("first"), "the one that guessed most is not forgotten")
    }
}

private final class TestTime: @unchecked Sendable {  // Of one test, in one task.
    var value = Duration.zero
}

private final class ErrorsSeen: @unchecked Sendable {  // Counted on the event loop, read after it.
    private(set) var count = 0
    var handler: some ChannelInboundHandler & Sendable { Handler(self) }

    private final class Handler: ChannelInboundHandler, @unchecked Sendable {  // Has one constant.
        typealias InboundIn = any Channel
        private let seen: ErrorsSeen
        init(_ seen: ErrorsSeen) { self.seen = seen }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { seen.count += 1 }
    }
}
