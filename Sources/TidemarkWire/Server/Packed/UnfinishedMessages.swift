import NIOCore
import NIOHTTP2

/// Bounds what a stream's unfinished messages hold, and how long they may take.
///
/// The gRPC library gathers a message until it is whole, without a limit of time and for each stream by
/// itself. Here the bytes of a message that is not whole count against the budget of all requests. A stream
/// that finds no room there, or whose message takes longer than ``patience``, is reset.
final class UnfinishedMessages: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    /// From a message's first byte to its last.
    static let patience = TimeAmount.seconds(60)

    private let budget: BodyBudget
    private let patience: TimeAmount
    private var prefixes = MessagePrefixes()
    private var share: BodyBudget.Share?
    private var timer: Scheduled<Void>?

    init(_ budget: BodyBudget, patience: TimeAmount = UnfinishedMessages.patience) {
        self.budget = budget
        self.patience = patience
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .data(let frame) = Self.unwrapInboundIn(data),
            case .byteBuffer(let bytes) = frame.data,
            !hold(bytes, context)
        {
            // Nothing more of it is gathered.
            return context.close(promise: nil)
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        letGo()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { letGo() }

    /// - Returns: False where there is no room.
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

/// Follows the messages of a stream: a byte, four bytes of the length, and so many bytes; frames cut them
/// anywhere.
struct MessagePrefixes: Equatable {
    private static let prefixBytes = 5

    /// Bytes of the present message that have come; 0 between messages.
    private var seen = 0
    private var length = 0

    /// - Returns: How many bytes of a message that is not whole have come, those before too; 0 for none.
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
