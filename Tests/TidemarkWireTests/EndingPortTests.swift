import NIOCore
import NIOPosix
import Testing
import TidemarkModel

@testable import TidemarkWire

/// Connections and streams that begin while a port ends. NIO ends the process if an object of such
/// a connection is released while its channel is open.
@Suite(.timeLimit(.minutes(2))) struct EndingPortTests {
    private static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    /// An empty frame of HTTP/2's settings.
    private static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

    private static func connect(to port: Int) async throws -> any NIOCore.Channel {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port).get()
    }

    private static var hello: ByteBuffer {
        var bytes = ByteBuffer(string: preface)
        bytes.writeBytes(settings)
        return bytes
    }

    @Test func `a connection that has sent nothing ends with its port`() async throws {
        for _ in 0..<20 {
            let loopback = try await Loopback(ScriptedTransport())
            let silent = try await Self.connect(to: loopback.port)
            // The server accepts in order: the silent connection before that of this call.
            _ = await loopback.client.answer(to: .deleteDocument(path("a/b"), .none))
            loopback.server.cancel()
            while let caller = try? await Self.connect(to: loopback.port) {
                try? await caller.close()
            }
            // The port is closed now, but the server still waits for its calls.
            try? await silent.writeAndFlush(Self.hello)
            try await silent.closeFuture.get()
            _ = await loopback.server.result
            await loopback.client.close()
        }
    }

    @Test func `connections begin while a port ends`() async throws {
        for _ in 0..<40 {
            let loopback = try await Loopback(ScriptedTransport())
            let callers = Task {
                while !Task.isCancelled {
                    guard let caller = try? await Self.connect(to: loopback.port) else { return }
                    try? await caller.writeAndFlush(Self.hello)
                    caller.close(promise: nil)
                }
            }
            _ = await loopback.client.answer(to: .deleteDocument(path("a/b"), .none))
            loopback.server.cancel()
            _ = await loopback.server.result
            callers.cancel()
            await callers.value
            await loopback.client.close()
        }
    }

    @Test func `a call that outlasts a port learns that the server stops`() async throws {
        let started = Facts<Bool>()
        let loopback = try await Loopback(ScriptedTransport { _, _, _ in started.add(true) })
        let call = Task { await loopback.client.answer(to: .deleteDocument(path("a/b"), .none)) }
        await started.wait()
        loopback.server.cancel()
        #expect(await call.value.status == .stopping)
        _ = await loopback.server.result
        await loopback.client.close()
    }

    /// A client that does not answer the server's ping may open streams until the end.
    @Test func `streams begin while a port ends`() async throws {
        let loopback = try await Loopback(ScriptedTransport())
        let caller = try await Self.connect(to: loopback.port)
        try await caller.writeAndFlush(Self.hello)
        // A request that never ends keeps the connection open until the server cancels its calls.
        let commit = "/google.firestore.v1.Firestore/Commit"
        try await caller.writeAndFlush(
            ByteBuffer(bytes: Self.headers(stream: 1, path: commit, isLast: false)))
        let streams = Task {
            var id: UInt32 = 3
            while caller.isActive, !Task.isCancelled {
                var bytes = ByteBuffer()
                for _ in 0..<20 {
                    bytes.writeBytes(Self.headers(stream: id, path: "/a.B/C", isLast: true))
                    id += 2
                }
                try? await caller.writeAndFlush(bytes)
                await Task.yield()
            }
        }
        _ = await loopback.client.answer(to: .deleteDocument(path("a/b"), .none))
        loopback.server.cancel()
        _ = await loopback.server.result
        streams.cancel()
        await streams.value
        await loopback.client.close()
    }

    /// The headers of a request. Each field is a literal without an index (RFC 7541, 6.2.2).
    ///
    /// - Parameter isLast: True if the request has no message.
    private static func headers(stream: UInt32, path: String, isLast: Bool) -> [UInt8] {
        let fields = [
            (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "a"),
            ("content-type", "application/grpc"), ("te", "trailers"),
        ]
        let block = fields.flatMap { name, value in
            [0, UInt8(name.utf8.count)] + name.utf8 + [UInt8(value.utf8.count)] + value.utf8
        }
        let endOfHeaders: UInt8 = 4
        let endOfStream: UInt8 = isLast ? 1 : 0
        return [0, 0, UInt8(block.count), 1, endOfHeaders | endOfStream]
            + withUnsafeBytes(of: stream.bigEndian, Array.init) + block
    }
}
