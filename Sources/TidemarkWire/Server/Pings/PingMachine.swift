import NIOCore

/// Takes pings out of what a client sends and answers them, on one connection of HTTP/2.
///
/// Google's Go client sends a ping after each answer, to measure the network. NIOHTTP2 ends a
/// connection after 200 pings in 30 s, and gRPC's library has no setting for that (Decisions/0071).
///
/// So many pings are answered that come without an answer to a call in between: ``allowance``. The
/// others, and what is no ping as the protocol has it, are passed on to NIOHTTP2, with its limit. It
/// makes no answers to calls while a client does not read, so no more than the allowance waits for it.
struct PingMachine: Equatable {
    static let allowance = 1_000
    /// What a client sends first. Source: RFC 9113, section 3.4.
    private static let prefaceBytes = 24

    private var received = FrameWalk(preface: prefaceBytes)
    /// The beginning of a frame's head, or of a ping: what has to be seen whole. Less than a ping.
    private var held = ByteBuffer()
    private var sent = FrameWalk()
    /// The beginning of a head, at most eight bytes. They are sent already.
    private var sentHead = ByteBuffer()
    private var allowed = allowance
    /// Pings that are not answered yet. At most ``allowance``.
    private var owed: [UInt64] = []

    /// The next part of received bytes that is passed on, in order: a part ends where a ping begins.
    ///
    /// Pings before it are owed an answer from then on. Copies nothing but a frame's first bytes when
    /// they come apart.
    ///
    /// - Parameter bytes: Loses what is looked at.
    /// - Returns: Nil when nothing more can be passed on. `bytes` is empty then.
    mutating func next(of bytes: inout ByteBuffer) -> ByteBuffer? {
        if held.readableBytes > 0, let whole = completeHeld(from: &bytes) { return whole }
        while owesPing(in: bytes) { bytes.moveReaderIndex(forwardBy: PingFrame.byteCount) }
        let end = endOfPassing(in: bytes)
        if end == bytes.readerIndex {
            held.writeBuffer(&bytes)
            return nil
        }
        // The usual case: the buffer itself goes on.
        if end == bytes.writerIndex { return bytes.takeAll() }
        return bytes.readSlice(length: end - bytes.readerIndex)
    }

    /// Notes what is written to the client, by others than this machine.
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

    /// The answers that are owed, as frames, when frames may be written now. They count as written.
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
    }

    private func isAnswered(_ head: FrameHead) -> Bool {
        head.isPing && received.isOpen && allowed > 0
    }

    /// Whether a whole ping is at the beginning of `bytes`. It is owed an answer then.
    private mutating func owesPing(in bytes: ByteBuffer) -> Bool {
        let start = bytes.readerIndex
        guard let head = FrameHead(in: bytes, at: start), isAnswered(head),
            let payload = bytes.getInteger(at: start + FrameHead.byteCount, as: UInt64.self)
        else { return false }
        allowed -= 1
        owed.append(payload)
        return true
    }

    /// Goes over all that is passed on: up to a ping, to a head that is not whole, or to the end.
    private mutating func endOfPassing(in bytes: ByteBuffer) -> Int {
        var place = bytes.readerIndex
        while place < bytes.writerIndex {
            place += received.pass(bytes.writerIndex - place)
            guard received.bytesLeft == 0, let head = FrameHead(in: bytes, at: place),
                !isAnswered(head)
            else { break }
            received.begin(head)
            place += FrameHead.byteCount
        }
        return place
    }

    /// Gives what is held the bytes that it lacks.
    ///
    /// - Returns: What is held, when it turns out to be passed on.
    private mutating func completeHeld(from bytes: inout ByteBuffer) -> ByteBuffer? {
        hold(upTo: FrameHead.byteCount, from: &bytes)
        guard let head = FrameHead(in: held, at: held.readerIndex) else { return nil }
        guard isAnswered(head) else {
            // It is no more than a head: what is held for longer is answered in any case.
            received.begin(head)
            return held.takeAll()
        }
        hold(upTo: PingFrame.byteCount, from: &bytes)
        if owesPing(in: held) { held.clear() }
        return nil
    }

    private mutating func hold(upTo count: Int, from bytes: inout ByteBuffer) {
        let missing = min(count - held.readableBytes, bytes.readableBytes)
        guard missing > 0, var part = bytes.readSlice(length: missing) else { return }
        held.writeBuffer(&part)
    }
}

extension ByteBuffer {
    /// All of it, without a copy. Leaves nothing.
    fileprivate mutating func takeAll() -> ByteBuffer {
        defer { self = ByteBuffer() }
        return self
    }
}
