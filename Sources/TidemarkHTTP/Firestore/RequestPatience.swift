package import NIOCore
import Synchronization
import TidemarkWire

/// The maximum durations of the parts of a request, and of an idle connection.
package struct RequestPatience: Sendable {
    /// The time from a request's first byte to the end of its headers.
    package var head = TimeAmount.seconds(30)
    package var body = TimeAmount.seconds(60)
    package var idle = TimeAmount.seconds(120)

    /// The times of this process: 30 s, 60 s and 2 minutes, unless ``PatienceScale`` shortens them.
    package init() {
        head = PatienceScale.scaled(head)
        body = PatienceScale.scaled(body)
        idle = PatienceScale.scaled(idle)
    }
}

/// Closes a connection if the head of a request is incomplete after the time limit. The library's
/// own limit counts from the last byte, so a client that sends slowly could exceed it forever.
final class HeadPatience: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private struct State {
        var timer: Scheduled<Void>?
        var isInRequest = false
        var requests = 0
        /// The number of bytes of ``end`` that were matched last.
        var matched = 0

        /// Returns true if the bytes contain the end of the head.
        mutating func reads(_ bytes: ByteBufferView) -> Bool {
            // Usually, the bytes end with the end of the head.
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

    /// The empty line at the end of a head.
    private static let end = Array("\r\n\r\n".utf8)

    private let patience: TimeAmount
    private let isFromStart: Bool
    private let state = Mutex(State())

    /// - Parameter isFromStart: True if the time of the first head counts from the start of the
    ///   connection. Use it if no other handler closes a silent connection.
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

    /// Observes the bytes before the decoder. After a complete head, the time limit has no effect.
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

    /// The number of requests whose heads are complete.
    var requests: Int { state.withLock { $0.requests } }

    /// Records that the head is complete.
    ///
    /// - Returns: The number of the request on its connection.
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
