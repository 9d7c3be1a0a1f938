import GRPCCore
import GRPCNIOTransportHTTP2Posix
public import TidemarkModel

/// Serves a ``Transport`` over gRPC on a socket, without encryption and with prior knowledge.
///
/// What it refuses by itself, it refuses with a sentence: requests over 11 MiB and bytes that are no
/// message with `INVALID_ARGUMENT`, pipelines with `FAILED_PRECONDITION`, other methods with
/// `UNIMPLEMENTED`. Requests may come in gzip: one that unpacks to more than 11 MiB ends with
/// `RESOURCE_EXHAUSTED`, and so does one that would make what is unpacked at once more than 64 MiB. A client that reads slowly is sent long answers in parts, each when it has taken
/// the one before. Where all that waits to be sent comes to 64 MiB, the stream that has waited longest
/// for its reader is let go with `RESOURCE_EXHAUSTED`, and so is one with more than 2,000 calls under way
/// on a connection, or when 20,000 are on all. A call whose client set no deadline has one of 60 s, of
/// 300 s where it reads many documents; streams have none.
public final class GRPCServer: Sendable {
    private let transport: any Transport
    private let host: String
    private let port: Int
    private let access: (any CallerGate)?
    private let limits: CallLimits
    private let plain: PlainConnections?

    /// - Parameters:
    ///   - host: An address of this machine, or `localhost`.
    ///   - port: 0 for a free one.
    ///   - access: Who may call, by what they show as a bearer token: an ``AccessToken`` that all know, or
    ///     the tokens of accounts; nil asks for nothing.
    public convenience init(
        _ transport: any Transport, host: String, port: Int, access: (any CallerGate)? = nil
    ) {
        self.init(transport, host: host, port: port, access: access, CallLimits())
    }

    /// - Parameter plain: Takes the connections that do not speak HTTP/2.
    package convenience init(
        _ transport: any Transport, host: String, port: Int, access: (any CallerGate)?,
        plain: @escaping PlainConnections
    ) {
        self.init(transport, host: host, port: port, access: access, CallLimits(), plain)
    }

    init(
        _ transport: any Transport, host: String, port: Int, access: (any CallerGate)?,
        _ limits: CallLimits, _ plain: PlainConnections? = nil
    ) {
        self.transport = transport
        self.host = host
        self.port = port
        self.access = access
        self.limits = limits
        self.plain = plain
    }

    /// Serves until the task is cancelled: then streams end with `UNAVAILABLE`, calls have 2 s to
    /// finish, and connections that are open half a second later are closed with what they had not
    /// read. `ready` is told the port once calls are accepted.
    ///
    /// - Throws: ``RPCStatus`` when it cannot listen at that address.
    public func run(ready: @escaping @Sendable (_ port: Int) -> Void) async throws {
        let connections = OpenConnections()
        let listener = try Self.transport(host: host, port: port, connections, plain)
        let streams = OpenStreams()
        let desk = CallDesk(access, limits)
        let calls = ServerCalls(transport, streams, desk)
        let sweeping = Task { await desk.sweepAlways() }
        defer { sweeping.cancel() }
        let serving = Task {
            try await listener.listen { stream, context in
                await calls.handle(stream, context)
            }
        }
        let announcing = Task {
            guard let address = await listener.listeningAddress,
                let port = address.ipv4?.port ?? address.ipv6?.port
            else { return }
            ready(port)
        }
        await withTaskCancellationHandler {
            _ = await serving.result
        } onCancel: {
            // In this order: the shutdown cancels what is open, and a stream that hears of it must
            // find out why, or its client is told CANCELLED as if it had left by itself.
            streams.endAll()
            listener.beginGracefulShutdown()
            Task {
                try? await Task.sleep(for: Self.grace)
                serving.cancel()
                try? await Task.sleep(for: Self.leaving)
                connections.closeAll()
            }
        }
        await announcing.value
        guard case .failure(let error) = await serving.result, !Task.isCancelled else { return }
        throw RPCStatus(.unavailable, "Cannot listen on \(host):\(port): \(error)")
    }
}
