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

    private struct State {
        var timer: Scheduled<Void>?
        var isInRequest = false
        var requests = 0
        /// How many bytes of a head's end have just come.
        var matched = 0

        /// Whether the head's end is among the bytes.
        mutating func reads(_ bytes: ByteBufferView) -> Bool {
            // Mostly a head comes whole, and nothing behind it.
            if bytes.suffix(HeadPatience.end.count).elementsEqual(HeadPatience.end) {
                matched = 0
                return true
            }
            for byte in bytes {
                matched =
                    byte == HeadPatience.end[matched]
                    ? matched + 1 : byte == HeadPatience.end[0] ? 1 : 0
                if matched == HeadPatience.end.count {
                    matched = 0
                    return true
                }
            }
            return false
        }
    }

    /// An empty line.
    private static let end = Array("\r\n\r\n".utf8)

    private let patience: TimeAmount
    private let isFromStart: Bool
    private let state = Mutex(State())

    /// - Parameter isFromStart: True if the time of the first head counts from the connection's beginning,
    ///   where nothing else closes a connection that says nothing.
    init(_ patience: TimeAmount, fromStart isFromStart: Bool = false) {
        self.patience = patience
        self.isFromStart = isFromStart
    }

    func channelActive(context: ChannelHandlerContext) {
        if isFromStart { state.withLock { start(in: &$0, context.channel) } }
        context.fireChannelActive()
    }

    private func start(in state: inout State, _ channel: any NIOCore.Channel) {
        state.timer = channel.eventLoop.scheduleTask(in: patience) {
            channel.close(mode: .all, promise: nil)
        }
    }

    /// In front of the decoder. What happens to a whole head is no matter of the client's.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = context.channel
        let bytes = Self.unwrapInboundIn(data).readableBytesView
        state.withLock { state in
            guard !state.isInRequest else { return }
            if state.reads(bytes) {
                state.isInRequest = true
                state.timer.take()?.cancel()
            } else if state.timer == nil {
                start(in: &state, channel)
            }
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop(isInRequest: true)
        context.fireChannelInactive()
    }

    /// Requests whose heads were whole.
    var requests: Int { state.withLock { $0.requests } }

    /// The head is whole.
    ///
    /// - Returns: The request's number on its connection.
    @discardableResult
    func requestBegan() -> Int {
        stop(isInRequest: true)
        return state.withLock { state in
            state.requests += 1
            return state.requests
        }
    }

    func requestEnded() { stop(isInRequest: false) }

    private func stop(isInRequest: Bool) {
        let timer = state.withLock { state in
            (state.isInRequest, state.matched) = (isInRequest, 0)
            return state.timer.take()
        }
        timer?.cancel()
    }
}
