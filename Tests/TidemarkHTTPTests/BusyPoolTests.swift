import NIOCore
import NIOPosix
import TestSupport
import Testing
import TidemarkServer
import TidemarkTesting
import TidemarkWire

/// A server in the test's process answers while other tests use every thread of Swift's tasks,
/// because the server has its own thread.
@Suite(.ownThread, .serialized, .timeLimit(.minutes(2))) struct BusyPoolTests {
    private static let document = "projects/local/databases/(default)/documents/rooms/none"

    @Test func `a call over gRPC is answered`() async throws {
        let local = try LocalFirestore.start()
        let port = try await local.serve().port
        #expect(try await isAnswered(Self.getDocument, at: port, isWhole: Self.hasTrailers))
        await local.stop()
    }

    /// Shows that the threads are busy: the same server on the default executor does not answer.
    @Test func `without a thread of its own, a server says nothing`() async throws {
        let ports = AsyncStream.makeStream(of: Int.self)
        let server = GRPCServer(
            try FirestoreServer(FirestoreServer.Configuration()), host: "127.0.0.1", port: 0)
        let serving = Task { try? await server.run { ports.continuation.yield($0) } }
        var port = 0
        for await opened in ports.stream {
            port = opened
            break
        }
        let isAnswered = try await isAnswered(
            Self.getDocument, at: port, within: .milliseconds(500), isWhole: Self.hasTrailers)
        #expect(!isAnswered)
        serving.cancel()
        await serving.value
    }

    @Test func `a sign-up is answered`() async throws {
        let accounts = try await LocalAccounts.start()
        let body = #"{"email": "ada@example.org", "password": "correct horse"}"#
        let request =
            "POST /identitytoolkit.googleapis.com/v1/accounts:signUp?key=any HTTP/1.1\r\n"
            + "Host: 127.0.0.1\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        #expect(
            try await isAnswered(Array(request.utf8), at: accounts.port) { bytes in
                String(decoding: bytes, as: UTF8.self).contains("idToken")
            })
        await accounts.stop()
    }

    @Test func `a commit over HTTP is answered`() async throws {
        let port = try await Port()
        let body = #"{"writes": []}"#
        let request =
            "POST /v1/projects/p/databases/(default)/documents:commit HTTP/1.1\r\n"
            + "Host: 127.0.0.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        #expect(
            try await isAnswered(Array(request.utf8), at: port.number) { bytes in
                String(decoding: bytes, as: UTF8.self).contains("commitTime")
            })
        try await port.close()
    }

    /// True if a request is answered while all threads of Swift's tasks are busy. The client uses
    /// only event loops.
    private func isAnswered(
        _ request: [UInt8], at port: Int, within limit: TimeAmount = .seconds(20),
        isWhole: @escaping @Sendable ([UInt8]) -> Bool
    ) async throws -> Bool {
        try await withBusyPool {
            let loop = MultiThreadedEventLoopGroup.singleton.next()
            let answer = loop.makePromise(of: Bool.self)
            let channel = try await ClientBootstrap(group: loop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            AnswerReader(answer, isWhole))
                    }
                }
                .connect(host: "127.0.0.1", port: port).get()
            let timer = loop.scheduleTask(in: limit) { answer.succeed(false) }
            channel.writeAndFlush(ByteBuffer(bytes: request), promise: nil)
            let isAnswered = try await answer.futureResult.get()
            timer.cancel()
            try await channel.close()
            return isAnswered
        }
    }
}

// MARK: - gRPC, as bytes

extension BusyPoolTests {
    /// The first bytes of a connection, with a call of `GetDocument`.
    private static var getDocument: [UInt8] {
        let name = Array(document.utf8)
        let message = [UInt8(1 << 3 | 2), UInt8(name.count)] + name
        let fields = [
            (":method", "POST"), (":scheme", "http"), (":authority", "localhost"),
            (":path", "/google.firestore.v1.Firestore/GetDocument"),
            ("content-type", "application/grpc"), ("te", "trailers"),
        ]
        // The fields are literals without an index, shorter than 127 bytes.
        var headers: [UInt8] = []
        for (name, value) in fields {
            headers += [0, UInt8(name.utf8.count)] + Array(name.utf8)
            headers += [UInt8(value.utf8.count)] + Array(value.utf8)
        }
        return Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, flags: 0, stream: 0, [])
            + frame(1, flags: 4, stream: 1, headers)
            + frame(0, flags: 1, stream: 1, [0, 0, 0, 0, UInt8(message.count)] + message)
    }

    private static func frame(
        _ kind: UInt8, flags: UInt8, stream: UInt8, _ payload: [UInt8]
    ) -> [UInt8] {
        [0, UInt8(payload.count >> 8), UInt8(payload.count & 255), kind, flags, 0, 0, 0, stream]
            + payload
    }

    /// True if the bytes contain the last frame of the stream: headers with the flag that ends the
    /// stream.
    private static func hasTrailers(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while rest.count >= 9 {
            let header = Array(rest.prefix(9))
            let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
            if header[3] == 1, header[4] & 1 == 1 { return true }
            rest = rest.dropFirst(9 + length)
        }
        return false
    }
}

/// Collects the received bytes until the answer is complete.
private final class AnswerReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let answer: EventLoopPromise<Bool>
    private let isWhole: ([UInt8]) -> Bool
    private var bytes: [UInt8] = []

    init(_ answer: EventLoopPromise<Bool>, _ isWhole: @escaping ([UInt8]) -> Bool) {
        self.answer = answer
        self.isWhole = isWhole
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        bytes += Array(buffer: Self.unwrapInboundIn(data))
        if isWhole(bytes) { answer.succeed(true) }
    }
}
