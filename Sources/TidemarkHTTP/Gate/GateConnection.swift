import NIOCore
import NIOPosix
import TidemarkServer

/// A client at the gate, and its connection to the server after it exists. Use it only on the
/// gate's event loop.
final class GateConnection {
    private let client: any Channel
    private let connectUpstream: () -> EventLoopFuture<any Channel>
    private let onBytes: (Int) -> Void
    private let onClose: () -> Void
    private var link: NetworkLink
    private var upstream: (any Channel)?
    private var isConnecting = false
    private var isOver = false
    private var up: GateDirection?
    private var down: GateDirection?

    /// - Parameters:
    ///   - connectUpstream: Connects to the server; the channel does not read before it is asked
    ///     to.
    ///   - onBytes: Receives the number of bytes as they arrive from either end.
    ///   - onClose: Called once, at the end.
    init(
        _ client: any Channel, _ link: NetworkLink,
        connectUpstream: @escaping () -> EventLoopFuture<any Channel>,
        onBytes: @escaping (Int) -> Void,
        onClose: @escaping () -> Void
    ) {
        self.client = client
        self.link = link
        self.connectUpstream = connectUpstream
        self.onBytes = onBytes
        self.onClose = onClose
    }

    /// Begins in the present network.
    func start() { apply() }

    /// Changes the network.
    func change(to link: NetworkLink) {
        if link == self.link { return }
        // The server would miss the bytes that a portal has already read.
        let wasCaptive = self.link == .captive
        self.link = link
        if wasCaptive { reset() } else { apply() }
    }

    private func apply() {
        switch link {
        case .refused: reset()
        case .silent: up?.hold(); down?.hold()
        // The connection of a client from before the portal breaks.
        case .captive where upstream != nil || isConnecting: reset()
        case .captive: client.setOption(.autoRead, value: true).whenFailure { _ in }
        case .open(let pacing):
            if upstream == nil { connect() }
            up?.go(pacing)
            down?.go(pacing)
        }
    }

    private func connect() {
        if isConnecting { return }
        isConnecting = true
        connectUpstream().assumeIsolated().whenComplete { [self] result in
            switch result {
            case .failure: reset()
            case .success(let channel): connected(channel)
            }
        }
    }

    private func connected(_ channel: any Channel) {
        isConnecting = false
        if isOver { return channel.close(promise: nil) }
        upstream = channel
        let up = GateDirection(from: client, to: channel, Pacing())
        let down = GateDirection(from: channel, to: client, Pacing())
        self.up = up
        self.down = down
        let handler = GateEnd(
            received: { [onBytes] bytes in
                onBytes(bytes.readableBytes)
                down.push(bytes)
            }, writable: { up.drain() }, closed: { down.finish() })
        do { try channel.pipeline.syncOperations.addHandler(handler) } catch { return reset() }
        if !channel.isActive { return down.finish() }
        apply()
    }

    // MARK: The client's end

    func received(_ bytes: ByteBuffer) {
        onBytes(bytes.readableBytes)
        if let up { return up.push(bytes) }
        // Only a portal reads before there is a server.
        guard link == .captive else { return }
        client.writeAndFlush(ByteBuffer(string: Self.loginPage)).whenComplete { [client] _ in
            client.close(promise: nil)
        }
    }

    func writable() { down?.drain() }

    func closed() {
        isOver = true
        up?.finish()
        // Bytes under way to a closed client are dropped.
        if link == .silent || up == nil { upstream?.close(promise: nil) }
        onClose()
    }

    /// Ends both connections without a message, like a broken network.
    func reset() {
        for channel in [client, upstream].compactMap({ $0 }) {
            if let provider = channel as? any SocketOptionProvider {
                provider.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in
                    channel.close(promise: nil)
                }
            } else {
                channel.close(promise: nil)
            }
        }
    }

    private static let loginPage: String = {
        let page = "<!DOCTYPE html><title>Welcome</title><p>Log in to use this network.</p>\n"
        return """
            HTTP/1.1 302 Found\r
            Location: http://login.captive.invalid/\r
            Content-Type: text/html; charset=utf-8\r
            Content-Length: \(page.utf8.count)\r
            Connection: close\r
            \r
            \(page)
            """
    }()
}

/// Passes the events of a channel to closures.
final class GateEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let received: (ByteBuffer) -> Void
    private let writable: () -> Void
    private let closed: () -> Void

    init(
        received: @escaping (ByteBuffer) -> Void, writable: @escaping () -> Void,
        closed: @escaping () -> Void
    ) {
        self.received = received
        self.writable = writable
        self.closed = closed
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received(unwrapInboundIn(data))
    }
    func channelWritabilityChanged(context: ChannelHandlerContext) { writable() }
    func channelInactive(context: ChannelHandlerContext) { closed() }
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
