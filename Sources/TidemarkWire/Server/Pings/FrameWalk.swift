import NIOCore

/// The header of an HTTP/2 frame. Source: RFC 9113, section 4.1.
struct FrameHead: Equatable {
    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let reset: UInt8 = 3
        static let pushPromise: UInt8 = 5
        static let ping: UInt8 = 6
        static let continuation: UInt8 = 9
    }

    static let byteCount = 9

    /// The number of bytes after the header.
    let length: Int
    let kind: UInt8
    let flags: UInt8
    /// The stream's id; 0 for the connection itself.
    let stream: UInt32

    /// Returns nil if fewer than nine bytes are available at `index`.
    init?(in bytes: ByteBuffer, at index: Int) {
        guard bytes.writerIndex - index >= Self.byteCount,
            let start = bytes.getInteger(at: index, as: UInt32.self),
            let flags = bytes.getInteger(at: index + 4, as: UInt8.self),
            let stream = bytes.getInteger(at: index + 5, as: UInt32.self)
        else { return nil }
        length = Int(start >> 8)
        kind = UInt8(truncatingIfNeeded: start)
        self.flags = flags
        self.stream = stream & 0x7FFF_FFFF  // The first bit is reserved.
    }

    /// True for a ping that must be answered. A ping of another length or with a stream id is a
    /// protocol error.
    var isPing: Bool {
        kind == Kind.ping && length == PingFrame.payloadBytes && stream == 0
            && flags & PingFrame.acknowledges == 0
    }

    /// True for a valid reset of a stream.
    var isReset: Bool { kind == Kind.reset && length == 4 && stream != 0 }

    /// True if the sender ends its side of the stream.
    var endsStream: Bool { answersCall && flags & 1 != 0 }

    /// The number of bytes of the frame.
    var frameBytes: Int { Self.byteCount + length }

    /// True if the frame is part of a call's answer.
    var answersCall: Bool { kind == Kind.data || kind == Kind.headers }

    /// True if the next frame must continue this frame's headers, with no other frame between them.
    fileprivate var isContinued: Bool {
        let endsHeaders: UInt8 = 4
        return switch kind {
        case Kind.headers, Kind.pushPromise, Kind.continuation: flags & endsHeaders == 0
        default: false
        }
    }
}

enum PingFrame {
    static let payloadBytes = 8
    static let byteCount = FrameHead.byteCount + payloadBytes
    /// The flag of an answer to a ping.
    static let acknowledges: UInt8 = 1

    static func writeAnswer(to payload: UInt64, into bytes: inout ByteBuffer) {
        bytes.writeInteger(UInt32(payloadBytes) << 8 | UInt32(FrameHead.Kind.ping))
        bytes.writeInteger(acknowledges)
        bytes.writeInteger(UInt32(0))
        bytes.writeInteger(payload)
    }
}

/// The position of one direction's bytes within its frames.
struct FrameWalk: Equatable {
    /// The bytes left in the current frame, or in the preface before the first frame.
    private(set) var bytesLeft: Int
    private(set) var hasBegun = false
    private var isInHeaders = false

    init(preface: Int = 0) { bytesLeft = preface }

    /// True if any frame may follow. The first frame must be a settings frame, so it does not
    /// count.
    var isOpen: Bool { hasBegun && bytesLeft == 0 && !isInHeaders }

    /// - Precondition: The previous frame has ended.
    mutating func begin(_ head: FrameHead) {
        precondition(bytesLeft == 0, "a frame begins within another")
        hasBegun = true
        isInHeaders = head.isContinued
        bytesLeft = head.length
    }

    /// Consumes bytes of the current frame.
    ///
    /// - Returns: The number of bytes consumed, at most `count`.
    mutating func pass(_ count: Int) -> Int {
        let passed = min(count, bytesLeft)
        bytesLeft -= passed
        return passed
    }
}
