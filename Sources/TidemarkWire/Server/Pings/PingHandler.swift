import NIOCore

/// Executes the decisions of ``PingMachine``, between a connection's socket and HTTP/2.
final class PingHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    // gRPC writes only from memory, never from a file.
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var machine = PingMachine()
    private var hasUnflushed = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = Self.unwrapInboundIn(data)
        while let part = machine.next(of: &bytes) {
            writeAnswers(context)
            context.fireChannelRead(Self.wrapInboundOut(part))
        }
        writeAnswers(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        if hasUnflushed { flush(context: context) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        machine.wrote(Self.unwrapOutboundIn(data))
        context.write(data, promise: promise)
        writeAnswers(context)
    }

    func flush(context: ChannelHandlerContext) {
        hasUnflushed = false
        context.flush()
    }

    private func writeAnswers(_ context: ChannelHandlerContext) {
        guard let answers = machine.answers() else { return }
        hasUnflushed = true
        context.write(Self.wrapOutboundOut(answers), promise: nil)
    }
}
