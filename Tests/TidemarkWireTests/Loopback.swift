import GRPCCore
import GRPCNIOTransportHTTP2Posix
import TidemarkModel
import TidemarkTesting

@testable import TidemarkWire

let database = try! DatabaseID(project: "demo")
let context = CallContext(database: database)

/// A real server in front of a transport, and a client of the server.
struct Loopback: Sendable {
    let server: Task<Void, any Error>
    let port: Int
    let client: GRPCTransport

    init(
        _ transport: any Transport, port: Int = 0, access: AccessToken? = nil,
        limits: CallLimits = CallLimits()
    ) async throws {
        let ports = Facts<Int>()
        let thread = ServingThread("tidemark.test-server")
        let server = GRPCServer(
            transport: transport, host: "127.0.0.1", port: port, access: access, limits: limits,
            executor: thread)
        self.server = Task(executorPreference: thread) { try await server.run { ports.add($0) } }
        self.port = await ports.wait()[0]
        client = GRPCTransport(.init(host: "127.0.0.1", port: self.port, usesTLS: false))
    }

    func close() async {
        await client.close()
        server.cancel()
        _ = await server.result
    }

    static func with<T>(
        _ transport: any Transport, _ body: (Loopback) async throws -> T
    ) async throws -> T {
        let loopback = try await Loopback(transport)
        do {
            let result = try await body(loopback)
            await loopback.close()
            return result
        } catch {
            await loopback.close()
            throw error
        }
    }
}

extension Loopback {
    /// Returns the parts of the answer to a call, in order, with the keys of the trailers.
    ///
    /// - Parameter timeout: The deadline that the call sends to the server, in gRPC's notation. The
    ///   client itself does not watch the deadline.
    func rawParts(of request: Request, timeout: String? = nil) async throws -> [String] {
        var metadata = Metadata()
        if let timeout { metadata.addString(timeout, forKey: "grpc-timeout") }
        let channel = try Channel(.init(host: "127.0.0.1", port: port, usesTLS: false))
        let encoded = try EncodedRequest(request, Names(database))
        let parts = try await channel.transport.withStream(
            descriptor: encoded.method.descriptor, options: .defaults
        ) { [metadata] stream, _ in
            try await stream.outbound.write(
                contentsOf: [.metadata(metadata), .message(GRPCNIOTransportBytes(encoded.bytes))])
            await stream.outbound.finish()
            var parts: [String] = []
            for try await part in stream.inbound {
                switch part {
                case .metadata: parts.append("metadata")
                case .message: parts.append("message")
                case .status(let status, let trailers):
                    parts.append("status \(status.message) \(trailers.map(\.key))")
                }
            }
            return parts
        }
        await channel.close()
        return parts
    }
}

extension GRPCTransport {
    func answer(
        to request: Request, _ context: CallContext = context
    ) async -> (replies: [Reply], status: RPCStatus) {
        let received = Received<Reply>()
        _ = call(request, context, receive: received.sink)
        let status = await received.end()
        return (received.messages.all, status)
    }
}

func path(_ text: String) -> DocumentPath { try! DocumentPath(text) }

func document(_ text: String, bytes: Int = 0) -> Document {
    Document(
        path: path(text),
        fields: ["n": .integer(1), "text": .string(String(repeating: "x", count: bytes))],
        createTime: Timestamp(microseconds: 1), updateTime: Timestamp(microseconds: 2))
}
