import NIOCore

/// What begins a frame of HTTP/2. Source: RFC 9113, section 4.1.
struct FrameHead: Equatable {
    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let pushPromise: UInt8 = 5
        static let ping: UInt8 = 6
        static let continuation: UInt8 = 9
    }

    static let byteCount = 9

    /// How many bytes follow it.
    let length: Int
    let kind: UInt8
    let flags: UInt8
    /// 0 is the connection itself.
    let stream: UInt32

    /// Nil where fewer than nine bytes are there from `index` on.
    init?(in bytes: ByteBuffer, at index: Int) {
        guard bytes.writerIndex - index >= Self.byteCount,
            let start = bytes.getInteger(at: index, as: UInt32.self),
            let flags = bytes.getInteger(at: index + 4, as: UInt8.self),
            let stream = bytes.getInteger(at: index + 5, as: UInt32.self)
        else { return nil }
        length = Int(start >> 8)
        kind = UInt8(truncatingIfNeeded: start)
        self.flags = flags
        self.stream = stream & 0x7FFF_FFFF  // The first bit has no meaning and is to be ignored.
    }

    /// Whether it is a ping that has to be answered. One of another length or with a stream is an error.
    var isPing: Bool {
        kind == Kind.ping && length == PingFrame.payloadBytes && stream == 0
            && flags & PingFrame.acknowledges == 0
    }

    /// Whether the frame is part of a call's answer.
    var answersCall: Bool { kind == Kind.data || kind == Kind.headers }

    /// Whether the next frame continues this one's headers, so that no other may stand between them.
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
    /// The flag of an answer.
    static let acknowledges: UInt8 = 1

    static func writeAnswer(to payload: UInt64, into bytes: inout ByteBuffer) {
        bytes.writeInteger(UInt32(payloadBytes) << 8 | UInt32(FrameHead.Kind.ping))
        bytes.writeInteger(acknowledges)
        bytes.writeInteger(UInt32(0))
        bytes.writeInteger(payload)
    }
}

/// Where the bytes of one direction are in their frames.
struct FrameWalk: Equatable {
    /// Of the frame under way, or of what precedes the first one.
    private(set) var bytesLeft: Int
    private(set) var hasBegun = false
    private var isInHeaders = false

    init(preface: Int = 0) { bytesLeft = preface }

    /// Whether any frame may come next. The first one is not any: it has to be settings.
    var isOpen: Bool { hasBegun && bytesLeft == 0 && !isInHeaders }

    /// - Precondition: The frame before has ended.
    mutating func begin(_ head: FrameHead) {
        precondition(bytesLeft == 0, "a frame begins within another")
        hasBegun = true
        isInHeaders = head.isContinued
        bytesLeft = head.length
    }

    /// Goes over what belongs to the frame under way.
    ///
    /// - Returns: How many of `count` bytes these are.
    mutating func pass(_ count: Int) -> Int {
        let passed = min(count, bytesLeft)
        bytesLeft -= passed
        return passed
    }
}
