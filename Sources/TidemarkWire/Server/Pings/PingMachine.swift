import NIOCore

/// Removes pings from the bytes that a client sends and answers them, on one HTTP/2 connection.
/// Also removes resets of calls that have ended.
///
/// Google's Go client sends a ping after each answer to measure the network. Google's Python client
/// resets a call when it has the document that it asked for, while the end of the call is on its
/// way. NIOHTTP2 closes a connection after 200 pings in 30 s or 200 resets in 10 s, and the gRPC
/// library has no setting for these limits (Decisions/0071).
///
/// The machine removes one reset of each stream that both sides have ended. It answers up to
/// ``allowance`` pings between two answers to calls. Further pings and invalid ones are passed to
/// NIOHTTP2 and count against its limit. The server answers no calls while a client does not read,
/// so at most ``allowance`` answers wait for such a client.
struct PingMachine: Equatable {
    static let allowance = 1_000
    /// The length of the client's connection preface. Source: RFC 9113, section 3.4.
    private static let prefaceBytes = 24

    private var received = FrameWalk(preface: prefaceBytes)
    /// The start of a frame header or of a ping, kept until it is complete. Shorter than a ping.
    private var held = ByteBuffer()
    private var sent = FrameWalk()
    /// The start of a sent header, at most eight bytes.
    private var sentHead = ByteBuffer()
    private var allowed = allowance
    private var streams = EndedStreams()
    /// The payloads of pings that are not answered yet, at most ``allowance``.
    private var owed: [UInt64] = []

    /// Returns the next part of the received bytes to pass on, in order. A part ends before a ping
    /// or a late reset.
    ///
    /// Removes the pings in front of the part; each will be answered. Copies only the first bytes
    /// of a frame that arrives in pieces.
    ///
    /// - Parameter bytes: The received bytes. The function removes those that it has examined.
    /// - Returns: The part; nil if nothing more can be passed on, and `bytes` is then empty.
    mutating func next(of bytes: inout ByteBuffer) -> ByteBuffer? {
        if held.readableBytes > 0, let whole = completeHeld(from: &bytes) { return whole }
        while let count = taken(from: bytes) { bytes.moveReaderIndex(forwardBy: count) }
        let end = endOfPassing(in: bytes)
        if end == bytes.readerIndex {
            held.writeBuffer(&bytes)
            return nil
        }
        // The usual case: passes the buffer itself on.
        if end == bytes.writerIndex { return bytes.takeAll() }
        return bytes.readSlice(length: end - bytes.readerIndex)
    }

    /// Tracks the bytes that others write to the client.
    mutating func wrote(_ bytes: ByteBuffer) {
        var place = bytes.readerIndex
        while place < bytes.writerIndex {
            let passed = sent.pass(bytes.writerIndex - place)
            place += passed
            if passed > 0 { continue }
            if sentHead.readableBytes == 0, let head = FrameHead(in: bytes, at: place) {
                place += FrameHead.byteCount
                began(head)
                continue
            }
            if let byte = bytes.getInteger(at: place, as: UInt8.self) {
                sentHead.writeInteger(byte)
            }
            place += 1
            if let head = FrameHead(in: sentHead, at: sentHead.readerIndex) {
                sentHead.clear()
                began(head)
            }
        }
    }

    /// Returns the pending answers as frames if frames can be written now; counts them as written.
    mutating func answers() -> ByteBuffer? {
        guard !owed.isEmpty, sent.isOpen, sentHead.readableBytes == 0 else { return nil }
        var frames = ByteBufferAllocator().buffer(capacity: owed.count * PingFrame.byteCount)
        for payload in owed { PingFrame.writeAnswer(to: payload, into: &frames) }
        owed.removeAll()
        return frames
    }

    private mutating func began(_ head: FrameHead) {
        sent.begin(head)
        if head.answersCall { allowed = Self.allowance }
        if head.endsStream || head.isReset { streams.serverEnded(head.stream) }
    }

    private mutating func passes(_ head: FrameHead) {
        received.begin(head)
        if head.endsStream { streams.clientEnded(head.stream) }
        if head.isReset { streams.wasReset(head.stream) }
    }

    /// Returns true for a ping that is answered here, and for a reset that has no effect.
    private func isTaken(_ head: FrameHead) -> Bool {
        guard received.isOpen else { return false }
        return head.isPing && allowed > 0 || head.isReset && streams.contains(head.stream)
    }

    /// Takes the complete frame at the start of `bytes`, if it is not passed on.
    ///
    /// - Returns: The number of bytes of the frame; nil if nothing is taken.
    private mutating func taken(from bytes: ByteBuffer) -> Int? {
        let start = bytes.readerIndex
        guard let head = FrameHead(in: bytes, at: start), isTaken(head),
            bytes.readableBytes >= head.frameBytes
        else { return nil }
        if head.isReset {
            streams.wasReset(head.stream)
        } else if let payload = bytes.getInteger(
            at: start + FrameHead.byteCount, as: UInt64.self)
        {
            allowed -= 1
            owed.append(payload)
        }
        return head.frameBytes
    }

    /// Returns the index up to which bytes are passed on: to a frame that is not, to an incomplete
    /// header, or to the end.
    private mutating func endOfPassing(in bytes: ByteBuffer) -> Int {
        var place = bytes.readerIndex
        while place < bytes.writerIndex {
            place += received.pass(bytes.writerIndex - place)
            guard received.bytesLeft == 0, let head = FrameHead(in: bytes, at: place),
                !isTaken(head)
            else { break }
            passes(head)
            place += FrameHead.byteCount
        }
        return place
    }

    /// Completes the held bytes from `bytes`.
    ///
    /// - Returns: The held bytes if they must be passed on.
    private mutating func completeHeld(from bytes: inout ByteBuffer) -> ByteBuffer? {
        hold(upTo: FrameHead.byteCount, from: &bytes)
        guard let head = FrameHead(in: held, at: held.readerIndex) else { return nil }
        guard isTaken(head) else {
            passes(head)
            // Longer held bytes are the start of a reset whose stream was forgotten meanwhile.
            _ = received.pass(held.readableBytes - FrameHead.byteCount)
            return held.takeAll()
        }
        hold(upTo: head.frameBytes, from: &bytes)
        if taken(from: held) != nil { held.clear() }
        return nil
    }

    private mutating func hold(upTo count: Int, from bytes: inout ByteBuffer) {
        let missing = min(count - held.readableBytes, bytes.readableBytes)
        guard missing > 0, var part = bytes.readSlice(length: missing) else { return }
        held.writeBuffer(&part)
    }
}

extension ByteBuffer {
    /// Returns the whole buffer without a copy and leaves an empty one.
    fileprivate mutating func takeAll() -> ByteBuffer {
        defer { self = ByteBuffer() }
        return self
    }
}
