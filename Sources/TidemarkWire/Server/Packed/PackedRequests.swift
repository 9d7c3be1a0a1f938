import NIOCore
import NIOHPACK
import NIOHTTP2

/// Passes gzip requests through to the server without decompressing them, and marks them in their
/// metadata.
///
/// The gRPC library would decompress messages as their frames arrive, and a frame of 128 KB can
/// hold more messages than fit into memory. ``Unpacking`` decompresses later, one message at a time
/// and within a bound. The library would also compress every answer for a client that accepts
/// compression; this server never compresses answers.
final class PackedRequests: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    private var marks: PackedMarks?

    /// - Returns: A completed future, because accepting a stream waits for it.
    static func add(to stream: any NIOCore.Channel) -> EventLoopFuture<Void> {
        stream.eventLoop.makeCompletedFuture {
            try stream.pipeline.syncOperations.addHandlers(
                [UnfinishedMessages(.process), PackedRequests()], position: .first)
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

/// Finds the byte before each message that marks it as compressed, and clears the mark.
///
/// A message is a mark byte, four bytes of length, and the contents. Frames may split it anywhere.
struct PackedMarks: Equatable {
    /// The number of bytes seen of the next message's prefix, and the part of its length known so
    /// far.
    private var prefix = 0
    private var length = 0
    /// The number of bytes of the message that are still missing.
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
