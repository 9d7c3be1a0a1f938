import Foundation
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import TidemarkModel
import TidemarkServer

@testable import TidemarkHTTP

/// A port that serves only ``FirestoreHTTP``, which answers on its own threads.
final class Port: Sendable {
    private let listener: any Channel
    private let http: FirestoreHTTP
    private let text = Mutex("")
    private let waiting = Mutex<(() -> Void)?>(nil)

    /// - Parameters:
    ///   - access: Decides who can call; nil accepts every caller.
    ///   - tls: Encrypts all connections; nil for none.
    ///   - transport: Performs the calls; nil for a new server.
    init(
        _ patience: RequestPatience = RequestPatience(), access: (any CallerGate)? = nil,
        tls: ServerTLS? = nil, transport: (any Transport)? = nil
    ) async throws {
        let server = try FirestoreServer(FirestoreServer.Configuration())
        let http = FirestoreHTTP(
            transport ?? server, access: access, web: WebPolicy(listeningOn: "127.0.0.1"),
            endpoints: [], tls: tls, patience: patience,
            executor: OneThread("tidemark.test-server"))
        self.http = http
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer {
                tls == nil ? http.accept($0) : http.acceptEncrypted($0)
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var number: Int { listener.localAddress!.port! }

    func close() async throws { try await listener.close() }

    func connect() async throws -> any Channel {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Reader { self.take($0) })
                }
            }
            .connect(host: "127.0.0.1", port: number).get()
    }

    private func take(_ part: String) {
        text.withLock { $0 += part }
        waiting.withLock { $0.take() }?()
    }

    /// Waits until the received text contains `wanted` this many times.
    func received(_ wanted: String, times: Int) async throws {
        while true {
            let isThere: @Sendable () -> Bool = { [self] in
                count(wanted) >= times
            }
            if isThere() { return }
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                waiting.withLock { $0 = { done.resume() } }
                if isThere() { waiting.withLock { $0.take() }?() }
            }
        }
    }

    /// Returns true if another client receives an answer. The wait has no time limit, because a
    /// busy machine can be slow.
    func answers() async throws -> Bool {
        let before = count("Ok\n")
        let client = try await connect()
        try await client.writeAndFlush(
            ByteBuffer(string: "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
        try await received("Ok\n", times: before + 1)
        try await client.close()
        return count("Ok\n") == before + 1
    }

    private func count(_ wanted: String) -> Int {
        text.withLock { $0.components(separatedBy: wanted).count - 1 }
    }
}

private final class Reader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let take: (String) -> Void

    init(_ take: @escaping (String) -> Void) { self.take = take }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        take(String(buffer: Self.unwrapInboundIn(data)))
    }
}
