import Foundation
package import NIOCore
import Synchronization

/// Counts the open connections of a port against a maximum.
package final class ConnectionLimit: Sendable {
    private let most: Int
    private let open = Atomic(0)

    /// - Precondition: `most` is positive.
    package init(most: Int) {
        precondition(most > 0)
        self.most = most
    }

    package var count: Int { open.load(ordering: .relaxed) }

    /// - Returns: False if the port is full. Otherwise the caller must call ``leave()`` later.
    func enter() -> Bool {
        if open.add(1, ordering: .relaxed).newValue <= most { return true }
        leave()
        return false
    }

    func leave() { open.subtract(1, ordering: .relaxed) }
}

/// Keeps a listening port open while the system has no descriptors left, and closes connections
/// beyond a maximum.
///
/// Without this handler, an error of `accept` reaches the code that waits for connections, which
/// takes it for the end of the port. With it the port waits for 100 ms and accepts again. It is the
/// first handler of the listening channel, so it sees the system's errors before all others.
package final class ListenerGuard: ChannelDuplexHandler {
    package typealias InboundIn = any NIOCore.Channel
    package typealias InboundOut = any NIOCore.Channel
    package typealias OutboundIn = Never
    package typealias OutboundOut = Never

    private static let pause = TimeAmount.milliseconds(100)
    /// The errors of `accept` that concern one connection or that end after some time.
    private static let passing: Set<CInt> = [ECONNABORTED, EMFILE, ENFILE, ENOBUFS, ENOMEM]

    private let limit: ConnectionLimit
    private var isPaused = false

    package init(_ limit: ConnectionLimit) { self.limit = limit }

    /// Adds a guard to a port that listens already.
    package static func add(
        to listener: any NIOCore.Channel, _ limit: ConnectionLimit
    ) -> EventLoopFuture<Void> {
        listener.eventLoop.submit {
            try listener.pipeline.syncOperations.addHandler(ListenerGuard(limit), position: .first)
        }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let accepted = Self.unwrapInboundIn(data)
        guard limit.enter() else { return accepted.close(promise: nil) }
        accepted.closeFuture.whenComplete { [limit] _ in limit.leave() }
        context.fireChannelRead(data)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let failure = error as? IOError, Self.passing.contains(failure.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        wait(context)
    }

    /// Ignores reads while the port waits.
    package func read(context: ChannelHandlerContext) {
        if !isPaused { context.read() }
    }

    private func wait(_ context: ChannelHandlerContext) {
        if isPaused { return }
        isPaused = true
        // Otherwise the system reports the waiting connection again and again.
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.pause) {
            let (handler, context) = bound.value
            handler.isPaused = false
            try? context.channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}
