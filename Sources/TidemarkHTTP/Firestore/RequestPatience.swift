package import NIOCore
import Synchronization

/// How long the parts of a request may take to arrive, and a connection may ask for nothing.
package struct RequestPatience: Sendable {
    /// From a request's first byte to the end of its headers.
    package var head = TimeAmount.seconds(30)
    package var body = TimeAmount.seconds(60)
    package var idle = TimeAmount.seconds(120)

    package init() {}
}

/// Closes a connection whose request's head does not come to its end in time, however steadily its bytes
/// drip: the library's own limit counts from the last byte.
final class HeadPatience: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let patience: TimeAmount
    private let state = Mutex((timer: Scheduled<Void>?.none, isInRequest: false))

    init(_ patience: TimeAmount) { self.patience = patience }

    /// In front of the decoder.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = context.channel
        state.withLock { state in
            guard state.timer == nil, !state.isInRequest else { return }
            state.timer = channel.eventLoop.scheduleTask(in: patience) {
                channel.close(mode: .all, promise: nil)
            }
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop(isInRequest: true)
        context.fireChannelInactive()
    }

    /// The head is whole.
    func requestBegan() { stop(isInRequest: true) }

    func requestEnded() { stop(isInRequest: false) }

    private func stop(isInRequest: Bool) {
        let timer = state.withLock { state in
            state.isInRequest = isInRequest
            return state.timer.take()
        }
        timer?.cancel()
    }
}
