import NIOCore
import NIOPosix
public import TidemarkServer
import TidemarkSystem
import TidemarkWire

/// A TCP gate in front of a port that simulates a network: slow, refusing, silent, or a
/// captive portal. A change of the network also applies to open connections. Each connection is a
/// link of its own, with the whole bandwidth of the network.
///
/// The gate exists only if the server was started with it. Otherwise, connections do not pass
/// through it.
public final class NetworkGate: Sendable {
    private let loop: any EventLoop
    private let table: GateTable

    /// - Parameters:
    ///   - host: An address of this machine, or `localhost`.
    ///   - port: The port; 0 for a free port.
    ///   - maxConnections: The maximum number of open connections, which need two file descriptors
    ///     each. Further connections are reset.
    ///   - onBytes: Receives the number of bytes as they arrive, from clients and from the server.
    ///     The gate calls it on its event loop, so it must return immediately.
    public init(
        host: String, port: Int, maxConnections: Int = 1_000,
        onBytes: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        loop = MultiThreadedEventLoopGroup.singleton.next()
        table = GateTable(
            loop: loop, host: host, port: port, maxConnections: maxConnections, onBytes: onBytes)
    }

    /// Opens the gate to a server on this machine.
    ///
    /// - Parameter upstream: The server's port, on loopback.
    /// - Returns: The gate's port, even if the network refuses connections.
    /// - Throws: ``ControlServerError`` if the gate cannot listen at its address.
    public func open(
        to upstream: Int, _ network: NetworkProfile
    ) async throws(ControlServerError) -> Int {
        try await run { $0.open(to: upstream, network) }
    }

    /// Changes the simulated network, also for open connections. If the rules for calls change
    /// (``NetworkProfile/rules``), open connections are reset, and streams then start again under
    /// the new rules.
    ///
    /// - Throws: ``ControlServerError`` if the gate cannot listen again after a network that
    ///   refuses connections. The gate then continues to refuse them, and can be asked again.
    public func play(_ network: NetworkProfile) async throws(ControlServerError) {
        try await run { $0.play(network) }
    }

    public func close() async {
        try? await run { table in
            table.close()
            return table.loop.makeSucceededVoidFuture()
        }
    }

    private func run<T: Sendable>(
        _ body: @escaping @Sendable (GateTable) -> EventLoopFuture<T>
    ) async throws(ControlServerError) -> T {
        do { return try await loop.flatSubmit { [table] in body(table) }.get() } catch {
            throw ControlServerError(message: "The network gate on \(table.place): \(error)")
        }
    }
}

/// The connections of a gate.
private final class GateTable: @unchecked Sendable {  // Only used on `loop`.
    let loop: any EventLoop
    private let host: String
    private var port: Int
    private let onBytes: @Sendable (Int) -> Void
    private let maxConnections: Int
    private let limit: ConnectionLimit
    private var upstream = 0
    private var network = NetworkProfile.healthy
    private var listener: (any Channel)?
    /// The listener's port while the network refuses connections.
    private var reserved: ReservedPort?
    private var connections: [ObjectIdentifier: GateConnection] = [:]

    /// The requested address, for error messages. Messages can be made on any thread.
    let place: String

    init(
        loop: any EventLoop, host: String, port: Int, maxConnections: Int,
        onBytes: @escaping @Sendable (Int) -> Void
    ) {
        self.loop = loop
        self.maxConnections = maxConnections
        limit = ConnectionLimit(most: 2 * maxConnections)
        self.onBytes = onBytes
        self.host = host == "localhost" ? "127.0.0.1" : host
        self.port = port
        place = "\(host):\(port)"
    }

    func open(to upstream: Int, _ network: NetworkProfile) -> EventLoopFuture<Int> {
        self.upstream = upstream
        // Listens first, even if the network refuses connections, because the port must be known.
        return listen().flatMap { [self] in play(network) }.map { [self] in port }
    }

    private func listen() -> EventLoopFuture<Void> {
        if listener != nil { return loop.makeSucceededVoidFuture() }
        let bootstrap = ServerBootstrap(group: loop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelInitializer { [limit] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ListenerGuard(limit))
                }
            }
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture { try accept(channel) }
            }
        let bound =
            if let descriptor = reserved.take()?.takeDescriptor() {
                bootstrap.withBoundSocket(descriptor)
            } else {
                bootstrap.bind(host: host, port: port)
            }
        return bound.map { [self] channel in
            listener = channel
            port = channel.localAddress?.port ?? port
        }
    }

    func play(_ network: NetworkProfile) -> EventLoopFuture<Void> {
        let isOtherForCalls = network.rules != self.network.rules
        self.network = network
        for connection in Array(connections.values) {
            if isOtherForCalls { connection.reset() } else { connection.change(to: network.link) }
        }
        if network.link != .refused {
            return listen().flatMapErrorThrowing { [self] error in
                self.network = .refuse
                throw error
            }
        }
        // The system refuses connections to a port without a listener.
        guard let old = listener else { return loop.makeSucceededVoidFuture() }
        listener = nil
        let address = old.localAddress
        return old.close().map { [self] in reserved = address.flatMap { ReservedPort($0) } }
    }

    func close() {
        listener?.close(promise: nil)
        listener = nil
        reserved = nil
        for connection in Array(connections.values) { connection.reset() }
    }

    private func accept(_ channel: any Channel) throws {
        let id = ObjectIdentifier(channel)
        let connection = GateConnection(
            channel, network.link, connectUpstream: { [self] in connect() }, onBytes: onBytes,
            onClose: { [self] in connections[id] = nil })
        try channel.pipeline.syncOperations.addHandler(
            GateEnd(
                received: { connection.received($0) }, writable: { connection.writable() },
                closed: { connection.closed() }))
        if connections.count >= maxConnections { return connection.reset() }
        connections[id] = connection
        connection.start()
    }

    private func connect() -> EventLoopFuture<any Channel> {
        ClientBootstrap(group: loop)
            .channelOption(.autoRead, value: false)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .connect(host: "127.0.0.1", port: upstream)
    }
}
