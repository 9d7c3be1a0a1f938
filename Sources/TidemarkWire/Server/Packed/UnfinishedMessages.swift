import NIOCore
import NIOHTTP2

/// Bounds the memory and the time that a stream's incomplete messages take.
///
/// The gRPC library collects the frames of a message without a time limit, and for each stream
/// separately. This handler counts the bytes of incomplete messages against the budget of all
/// requests. It resets a stream that does not fit, or whose message takes longer than ``patience``.
final class UnfinishedMessages: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    /// The length of a message whose memory the library must not keep, in bytes.
    private static let large = 1 << 18
    /// The time for which a complete message of a stream still counts.
    private static let delivery = TimeAmount.seconds(1)
    /// The maximum time from a message's first byte to its last.
    static let patience = TimeAmount.seconds(60)

    private let budget: BodyBudget
    private let patience: TimeAmount
    private var prefixes = MessagePrefixes()
    private var share: BodyBudget.Share?
    private var timer: Scheduled<Void>?

    init(_ budget: BodyBudget, patience: TimeAmount? = nil) {
        self.budget = budget
        self.patience = patience ?? PatienceScale.scaled(Self.patience)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .data(let frame) = Self.unwrapInboundIn(data),
            case .byteBuffer(let bytes) = frame.data
        else { return context.fireChannelRead(data) }
        let isLarge = prefixes.seen >= Self.large
        // The library collects no more of a message that has no room.
        guard hold(bytes, isEnd: frame.endStream, context) else {
            return context.close(promise: nil)
        }
        guard isLarge, prefixes.seen == 0 else { return context.fireChannelRead(data) }
        // The library keeps the memory of a message until more bytes arrive. An empty frame behind
        // it makes the library drop its copy.
        var last = frame
        last.endStream = false
        context.fireChannelRead(Self.wrapInboundOut(.data(last)))
        let end = HTTP2Frame.FramePayload.Data(
            data: .byteBuffer(ByteBuffer()), endStream: frame.endStream)
        context.fireChannelRead(Self.wrapInboundOut(.data(end)))
    }

    func channelInactive(context: ChannelHandlerContext) {
        letGo()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { letGo() }

    /// - Returns: False if the budget has too little room.
    private func hold(
        _ bytes: ByteBuffer, isEnd: Bool, _ context: ChannelHandlerContext
    ) -> Bool {
        let waiting = bytes.withUnsafeReadableBytes { prefixes.read($0) }
        if waiting == 0 {
            keep(isEnd: isEnd, context)
            return true
        }
        if waiting <= bytes.readableBytes {
            // A new message has begun in this frame.
            letGo()
        }
        let share = self.share ?? budget.share()
        self.share = share
        if timer == nil {
            let channel = context.channel
            timer = context.eventLoop.scheduleTask(in: patience) {
                channel.close(promise: nil)
            }
        }
        return share.grow(by: min(waiting, bytes.readableBytes))
    }

    /// Keeps the share of a complete message, which the library may not have delivered yet: until
    /// the end of a call, whose only message it is, and for a moment on a stream.
    private func keep(isEnd: Bool, _ context: ChannelHandlerContext) {
        timer.take()?.cancel()
        if isEnd || share == nil { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.delivery) { self.letGo() }
    }

    private func letGo() {
        share = nil
        timer.take()?.cancel()
    }
}

/// Finds the messages in the frames of a stream. A message is a byte, its length in four bytes, and
/// its contents; a frame can end anywhere in it.
struct MessagePrefixes: Equatable {
    private static let prefixBytes = 5

    /// The number of bytes received of the current message; 0 between messages.
    private(set) var seen = 0
    private var length = 0

    /// - Returns: The number of bytes received of an incomplete message, also in earlier frames; 0
    ///   if there is none.
    mutating func read(_ bytes: UnsafeRawBufferPointer) -> Int {
        var place = 0
        while place < bytes.count {
            if seen < Self.prefixBytes {
                if seen > 0 { length = length << 8 | Int(bytes[place]) }
                seen += 1
                place += 1
            } else {
                let step = min(Self.prefixBytes + length - seen, bytes.count - place)
                seen += step
                place += step
            }
            if seen >= Self.prefixBytes, seen == Self.prefixBytes + length {
                (seen, length) = (0, 0)
            }
        }
        return seen
    }
}
