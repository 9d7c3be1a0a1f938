import NIOCore
import NIOHPACK
import NIOHTTP2

/// Lets requests in gzip through to the server as they are, with a note in their metadata.
///
/// The gRPC library would unpack each message as its frames arrive: a frame of 128 KB can hold more
/// messages than memory. ``Unpacking`` does it later, message by message, within a bound. The library
/// would also pack every answer for a client that merely says it could unpack it; answers are sent as
/// they are.
final class PackedRequests: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    private var marks: PackedMarks?

    /// - Returns: At once: accepting a stream waits for it.
    static func add(to stream: any NIOCore.Channel) -> EventLoopFuture<Void> {
        stream.eventLoop.makeCompletedFuture {
            try stream.pipeline.syncOperations.addHandler(PackedRequests(), position: .first)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(var frame):
            let isPacked = frame.headers.first(name: Self.encoding) == Self.gzip
            guard isPacked || frame.headers.contains(name: MetadataKey.packed) else {
                context.fireChannelRead(data)
                return
            }
            frame.headers.remove(name: MetadataKey.packed)
            if isPacked {
                marks = PackedMarks()
                frame.headers.remove(name: Self.encoding)
                frame.headers.add(name: MetadataKey.packed, value: Self.gzip)
            }
            context.fireChannelRead(wrapInboundOut(.headers(frame)))
        case .data(var frame) where marks != nil:
            if case .byteBuffer(var bytes) = frame.data {
                bytes.withUnsafeMutableReadableBytes { marks?.remove(from: $0) }
                frame.data = .byteBuffer(bytes)
            }
            context.fireChannelRead(wrapInboundOut(.data(frame)))
        default: context.fireChannelRead(data)
        }
    }

    private static let encoding = "grpc-encoding"
    private static let gzip = "gzip"
}

/// Finds the byte before each message that says it is packed, and takes the mark away.
///
/// A message is a byte, four bytes of its length and so many bytes; frames cut them anywhere.
struct PackedMarks: Equatable {
    /// Bytes of the next message's prefix that have been seen, and its length as far as it is known.
    private var prefix = 0
    private var length = 0
    /// Bytes of the message that are still to come.
    private var remaining = 0

    private static let prefixBytes = 5

    mutating func remove(from bytes: UnsafeMutableRawBufferPointer) {
        var place = 0
        while place < bytes.count {
            if remaining > 0 {
                let step = min(remaining, bytes.count - place)
                remaining -= step
                place += step
                continue
            }
            if prefix == 0 {
                if bytes[place] == 1 { bytes[place] = 0 }
            } else {
                length = length << 8 | Int(bytes[place])
            }
            prefix += 1
            place += 1
            if prefix == Self.prefixBytes {
                remaining = length
                prefix = 0
                length = 0
            }
        }
    }
}
