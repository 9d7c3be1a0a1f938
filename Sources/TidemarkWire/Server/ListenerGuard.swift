import Foundation
package import NIOCore
import Synchronization

/// How many connections a port has open, and may have.
package final class ConnectionLimit: Sendable {
    private let most: Int
    private let open = Atomic(0)

    /// - Precondition: `most` is positive.
    package init(most: Int) {
        precondition(most > 0)
        self.most = most
    }

    package var count: Int { open.load(ordering: .relaxed) }

    /// - Returns: False where the port is full; otherwise ``leave()`` is owed.
    func enter() -> Bool {
        if open.add(1, ordering: .relaxed).newValue <= most { return true }
        leave()
        return false
    }

    func leave() { open.subtract(1, ordering: .relaxed) }
}

/// Keeps a listening port open while the system has no descriptor for another connection, and closes
/// connections beyond a limit as they come.
///
/// Without it, a connection that the system cannot accept looks like the end of the port: the error reaches
/// whoever waits for connections. Here it only makes the port wait for 100 ms. It stands first in the
/// listening channel's pipeline, where it sees the system's errors before anybody else.
package final class ListenerGuard: ChannelDuplexHandler {
    package typealias InboundIn = any NIOCore.Channel
    package typealias InboundOut = any NIOCore.Channel
    package typealias OutboundIn = Never
    package typealias OutboundOut = Never

    private static let pause = TimeAmount.milliseconds(100)
    /// Errors of one connection, or that pass: of the process, of the machine, of the network's memory.
    private static let passing: Set<CInt> = [ECONNABORTED, EMFILE, ENFILE, ENOBUFS, ENOMEM]

    private let limit: ConnectionLimit
    private var isPaused = false

    package init(_ limit: ConnectionLimit) { self.limit = limit }

    /// Puts a guard in front of a port that listens already.
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

    /// While the port waits, nobody else makes it accept.
    package func read(context: ChannelHandlerContext) {
        if !isPaused { context.read() }
    }

    private func wait(_ context: ChannelHandlerContext) {
        if isPaused { return }
        isPaused = true
        // The system says at once, and again and again, that a connection is there.
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.pause) {
            let (handler, context) = bound.value
            handler.isPaused = false
            try? context.channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}
