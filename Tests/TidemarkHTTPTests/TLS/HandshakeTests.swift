import Foundation
import NIOCore
import Testing

@testable import TidemarkHTTP

struct HandshakeTests {
    /// - Parameter bytes: The beginning of a handshake, or bytes that only resemble a handshake.
    @Test(.timeLimit(.minutes(1)), arguments: [[22], [22, 3, 1, 2, 0], Array("GET / HTTP".utf8)])
    func `a handshake that fails or does not end in time is closed`(bytes: [UInt8]) async throws {
        let folder = FileManager.default.temporaryDirectory.path + "/tls-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var patience = RequestPatience()
        patience.head = .milliseconds(50)
        let port = try await Port(patience, tls: try ServerTLS.kept(in: folder, for: []).tls)
        let client = try await port.connect()
        // On a busy machine, the server can close the connection before the client sends the bytes.
        try? await client.writeAndFlush(ByteBuffer(bytes: bytes))
        try await client.closeFuture.get()
        try await port.close()
    }
}
