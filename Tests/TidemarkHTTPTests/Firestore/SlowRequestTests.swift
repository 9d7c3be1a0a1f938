import Foundation
import NIOCore
import Testing

@testable import TidemarkHTTP

/// The port closes each slow or silent client after a limit, and other clients are not affected.
struct SlowRequestTests {
    /// Returns limits that are short enough for a test and long enough for a busy machine. Limits
    /// that a test does not name are long.
    private static func patience(
        head: Int64 = 600_000, body: Int64 = 600_000, idle: Int64 = 600_000
    ) -> RequestPatience {
        var patience = RequestPatience()
        patience.head = .milliseconds(head)
        patience.body = .milliseconds(body)
        patience.idle = .milliseconds(idle)
        return patience
    }

    /// Sends `start`, then one byte every 20 ms until the server closes the connection.
    ///
    /// - Returns: The duration.
    private func closing(
        _ port: Port, _ start: String, drips: Bool
    ) async throws -> Duration {
        let begin = ContinuousClock.now
        let client = try await port.connect()
        // If this task waited too long for its turn, the server has closed the connection, as the
        // limit requires.
        try? await client.writeAndFlush(ByteBuffer(string: start))
        let drip = client.eventLoop.scheduleRepeatedTask(
            initialDelay: .milliseconds(20), delay: .milliseconds(20)
        ) { _ in
            if drips { client.writeAndFlush(ByteBuffer(string: "x"), promise: nil) }
        }
        try await client.closeFuture.get()
        drip.cancel()
        return ContinuousClock.now - begin
    }

    private static let post =
        "POST /v1/projects/p/databases/d/documents:commit HTTP/1.1\r\nHost: 127.0.0.1\r\n"

    @Test func `a head that drips is closed after its bound`() async throws {
        let port = try await Port(Self.patience(head: 400))
        let took = try await closing(port, "GET / HTTP/1.1\r\nHost: ", drips: true)
        #expect(took >= .milliseconds(390))
        #expect(try await port.answers())
        try await port.close()
    }

    @Test func `a body that drips is closed after its bound`() async throws {
        let port = try await Port(Self.patience(body: 400))
        let took = try await closing(
            port, Self.post + "Content-Length: 100000\r\n\r\n", drips: true)
        #expect(took >= .milliseconds(390))
        #expect(try await port.answers())
        try await port.close()
    }

    @Test func `a connection that asks for nothing more is closed`() async throws {
        let port = try await Port(Self.patience(idle: 2_000))
        let took = try await closing(
            port, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", drips: false)
        #expect(took >= .milliseconds(1_900))
        try await port.close()
    }

    @Test func `others are answered while many drip`() async throws {
        let port = try await Port(Self.patience(head: 5_000, body: 5_000))
        var slow: [any Channel] = []
        for number in 0..<100 {
            let client = try await port.connect()
            let start =
                number.isMultiple(of: 2)
                ? "GET / HTT" : Self.post + "Content-Length: 100000\r\n\r\n{"
            try await client.writeAndFlush(ByteBuffer(string: start))
            slow.append(client)
        }
        #expect(try await port.answers())
        // The server closes every connection; the test closes none.
        for client in slow { try await client.closeFuture.get() }
        #expect(try await port.answers())
        try await port.close()
    }

    @Test func `a connection lives through many requests`() async throws {
        let port = try await Port(Self.patience(head: 2_000))
        let began = ContinuousClock.now
        // The requests on this connection take longer in total than the limit for one head.
        let client = try await port.connect()
        var answers = 0
        while ContinuousClock.now - began < .milliseconds(3_000) || answers < 2 {
            try await client.writeAndFlush(
                ByteBuffer(string: "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
            answers += 1
            try await port.received("Ok\n", times: answers)
        }
        #expect(client.isActive && answers > 1)
        try await client.close()
        try await port.close()
    }
}
