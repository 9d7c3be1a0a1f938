import NIOCore
import Synchronization

/// The connections of a server, to be closed when it stops and they do not end by themselves.
///
/// The gRPC library ends a connection when all that was written to it has left, and by its own limit
/// only after the client has answered a ping. A client that reads nothing does neither.
final class OpenConnections: Sendable {
    private let channels = Mutex<[ObjectIdentifier: any NIOCore.Channel]>([:])

    /// - Returns: At once: accepting waits for it.
    func add(_ channel: any NIOCore.Channel) -> EventLoopFuture<Void> {
        let id = ObjectIdentifier(channel)
        channels.withLock { $0[id] = channel }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.channels.withLock { _ = $0.removeValue(forKey: id) }
        }
        return channel.eventLoop.makeSucceededVoidFuture()
    }

    /// Drops what the connections have not sent.
    func closeAll() {
        let open = channels.withLock { Array($0.values) }
        for channel in open { channel.close(mode: .all, promise: nil) }
    }
}
