import GRPCCore
import GRPCNIOTransportHTTP2Posix
public import TidemarkModel

/// Serves a ``Transport`` over gRPC on a socket, without encryption and with prior knowledge.
///
/// The server itself rejects, each with a sentence: requests over 11 MiB and malformed messages
/// with `INVALID_ARGUMENT`, and unknown methods with `UNIMPLEMENTED`. Requests may be compressed
/// with gzip. A request that decompresses to more than 11 MiB fails with `RESOURCE_EXHAUSTED`, and
/// so does a request that would bring all decompressed requests to more than 64 MiB.
///
/// A slow client gets a long answer in parts, each after it has read the part before. If all unsent
/// data reaches 64 MiB, the stream that has waited longest for its reader ends with
/// `RESOURCE_EXHAUSTED`. The same happens to a call beyond 2,000 on one connection or 20,000 on
/// all. A call without a deadline of its client has one of 60 s, or 300 s if it reads many
/// documents. Streams have no deadline.
public final class GRPCServer: Sendable {
    private let transport: any Transport
    private let host: String
    private let port: Int
    private let access: (any CallerGate)?
    private let limits: CallLimits
    private let plain: PlainConnections?
    private let executor: (any TaskExecutor)?
    private let connectionLimit: ConnectionLimit
    private let maxRequestBytes: Int

    /// The maximum size of a request to databases with documents of 16 MiB, in bytes. A client of
    /// this package sends at most 17 MiB.
    package static let largeRequestBytes = 18 << 20

    /// The default maximum of open connections.
    package static let maxConnections = 10_000

    /// - Parameters:
    ///   - host: An address of this machine, or `localhost`.
    ///   - port: The port; 0 for a free port.
    ///   - access: Decides who may call, from the bearer token: a shared ``AccessToken``, or the
    ///     tokens of accounts. Nil admits every caller.
    ///   - executor: Runs the tasks of all its calls; nil for Swift's default one.
    public convenience init(
        _ transport: any Transport, host: String, port: Int, access: (any CallerGate)? = nil,
        executor: (any TaskExecutor)? = nil
    ) {
        self.init(
            transport: transport, host: host, port: port, access: access, limits: CallLimits(),
            executor: executor)
    }

    /// - Parameters:
    ///   - maxConnections: The maximum of open connections; further ones are closed.
    ///   - hasLargeDocuments: True if a database is of the Enterprise edition: requests may then
    ///     have ``largeRequestBytes``.
    ///   - plain: Handles connections that do not speak HTTP/2.
    package convenience init(
        _ transport: any Transport, host: String, port: Int, access: (any CallerGate)?,
        maxConnections: Int = GRPCServer.maxConnections, hasLargeDocuments: Bool = false,
        plain: @escaping PlainConnections
    ) {
        self.init(
            transport: transport, host: host, port: port, access: access, limits: CallLimits(),
            plain: plain, maxConnections: maxConnections,
            maxRequestBytes: hasLargeDocuments ? Self.largeRequestBytes : Self.maxRequestBytes)
    }

    init(
        transport: any Transport, host: String, port: Int, access: (any CallerGate)?,
        limits: CallLimits, plain: PlainConnections? = nil,
        maxConnections: Int = GRPCServer.maxConnections,
        maxRequestBytes: Int = GRPCServer.maxRequestBytes, executor: (any TaskExecutor)? = nil
    ) {
        self.maxRequestBytes = maxRequestBytes
        self.transport = transport
        self.host = host
        self.port = port
        self.access = access
        self.limits = limits
        self.plain = plain
        self.executor = executor
        connectionLimit = ConnectionLimit(most: maxConnections)
    }

    /// Serves until the task is cancelled. Then streams end with `UNAVAILABLE`, and calls have 2 s
    /// to finish. Connections that are still open half a second later are closed, even with unsent
    /// data. `ready` is called with the port once calls are accepted.
    ///
    /// - Throws: ``RPCStatus`` if the server cannot listen at that address.
    public func run(ready: @escaping @Sendable (_ port: Int) -> Void) async throws {
        let connections = OpenConnections()
        let listener = try Self.transport(
            host: host, port: port, connections: connections, limit: connectionLimit, plain: plain,
            maxMessageBytes: max(Self.maxMessageBytes, maxRequestBytes))
        let streams = OpenStreams()
        let lateCalls = OpenStreams()
        let desk = CallDesk(access, limits)
        let calls = ServerCalls(
            transport: transport, streams: streams, lateCalls: lateCalls, desk: desk,
            maxRequestBytes: maxRequestBytes, executor: executor)
        let sweeping = Task(executorPreference: executor) { await desk.sweepAlways() }
        defer { sweeping.cancel() }
        let serving = Task(executorPreference: executor) {
            try await listener.listen { stream, context in
                await calls.handle(stream, context)
            }
        }
        let announcing = Task(executorPreference: executor) {
            guard let address = await listener.listeningAddress,
                let port = address.ipv4?.port ?? address.ipv6?.port
            else { return }
            ready(port)
        }
        await withTaskCancellationHandler {
            _ = await serving.result
        } onCancel: {
            // The order matters: the shutdown cancels open streams, and a stream must find the
            // reason then. Otherwise its client gets CANCELLED, as if the client had left.
            streams.endAll()
            listener.beginGracefulShutdown()
            Task(executorPreference: executor) {
                try? await Task.sleep(for: Self.grace)
                lateCalls.endAll()
                try? await Task.sleep(for: Self.leaving)
                await connections.closeAll()
                // The library must not be cancelled earlier: a stream that a client opens then is
                // released without being served, and NIO ends the process.
                serving.cancel()
            }
        }
        await announcing.value
        guard case .failure(let error) = await serving.result, !Task.isCancelled else { return }
        throw RPCStatus(.unavailable, "Cannot listen on \(host):\(port): \(error)")
    }
}
