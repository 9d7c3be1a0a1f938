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
        if case .data(let frame) = Self.unwrapInboundIn(data),
            case .byteBuffer(let bytes) = frame.data,
            !hold(bytes, context)
        {
            // The library collects no more of it.
            return context.close(promise: nil)
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        letGo()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { letGo() }

    /// - Returns: False if the budget has too little room.
    private func hold(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        let waiting = bytes.withUnsafeReadableBytes { prefixes.read($0) }
        if waiting == 0 {
            letGo()
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
    private var seen = 0
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
