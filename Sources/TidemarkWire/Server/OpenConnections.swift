import NIOCore
import Synchronization

/// The connections of a server. When the server stops, it closes those that do not end by
/// themselves.
///
/// The gRPC library closes a connection when all written data has been sent, and applies its own
/// limit only after the client has answered a ping. A client that does not read does neither.
final class OpenConnections: Sendable {
    private let channels = Mutex<[ObjectIdentifier: any NIOCore.Channel]>([:])

    /// - Returns: A completed future, because accepting a connection waits for it.
    func add(_ channel: any NIOCore.Channel) -> EventLoopFuture<Void> {
        let id = ObjectIdentifier(channel)
        channels.withLock { $0[id] = channel }
        channel.closeFuture.whenComplete { [weak self] _ in
            self?.channels.withLock { _ = $0.removeValue(forKey: id) }
        }
        return channel.eventLoop.makeSucceededVoidFuture()
    }

    /// Closes all connections and drops their unsent data. Returns when they are closed.
    func closeAll() async {
        let open = channels.withLock { Array($0.values) }
        for channel in open { channel.close(mode: .all, promise: nil) }
        for channel in open { try? await channel.closeFuture.get() }
    }
}
