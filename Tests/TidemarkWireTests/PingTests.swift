import NIOCore
import Testing
import TidemarkModel

@testable import TidemarkWire

/// Pings are answered before they reach HTTP/2, at whatever places the bytes of either direction
/// are cut.
struct PingTests {
    private let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// The first bytes of a client.
    private var start: [UInt8] { preface + Self.settings }
    private static let settings = frame(4, [0, 3, 0, 0, 0, 100])

    private static func frame(
        _ kind: UInt8, _ payload: [UInt8], flags: UInt8 = 0, stream: UInt16 = 0
    ) -> [UInt8] {
        let length = payload.count
        return [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), kind, flags]
            + [0, 0, UInt8(stream >> 8), UInt8(stream & 0xFF)] + payload
    }

    private static func ping(_ number: UInt8, flags: UInt8 = 0) -> [UInt8] {
        frame(6, [1, 2, 3, 4, 5, 6, 7, number], flags: flags)
    }

    /// The answer to a call, as the server writes it.
    private static let answer = frame(1, [0x88], flags: 4, stream: 1) + frame(0, [7], stream: 1)

    /// A machine and its output.
    private struct Connection {
        private(set) var machine = PingMachine()
        /// The bytes passed to HTTP/2.
        private(set) var passedOn: [UInt8] = []
        /// The bytes written to the client.
        private(set) var written: [UInt8] = []

        init(hasBegun: Bool = true) { if hasBegun { write(PingTests.settings) } }

        /// The bytes written after the server's settings.
        var answers: [UInt8] { Array(written.dropFirst(PingTests.settings.count)) }

        mutating func receive(_ bytes: some Sequence<UInt8>) {
            var buffer = ByteBuffer(bytes: bytes)
            while let part = machine.next(of: &buffer) {
                takeAnswers()
                passedOn += part.readableBytesView
            }
            takeAnswers()
            #expect(buffer.readableBytes == 0)
        }

        mutating func write(_ bytes: some Sequence<UInt8>) {
            let buffer = ByteBuffer(bytes: bytes)
            machine.wrote(buffer)
            written += buffer.readableBytesView
            takeAnswers()
        }

        private mutating func takeAnswers() {
            if let answers = machine.answers() { written += answers.readableBytesView }
        }
    }

    /// Receives `bytes` cut at both places.
    private static func receive(_ bytes: [UInt8], cutAt first: Int, _ second: Int) -> Connection {
        var connection = Connection()
        connection.receive(bytes[..<first])
        connection.receive(bytes[first..<second])
        connection.receive(bytes[second...])
        return connection
    }

    @Test func `pings are answered wherever the bytes are cut, and all else is passed on`() {
        // The bytes contain frames that look like pings but are not, and pings that need no answer.
        let before = start + Self.frame(1, [0x82, 0x86], flags: 4, stream: 1)
        let between = Self.frame(0, Self.ping(9), stream: 1) + Self.ping(9, flags: 1)
        let after =
            Self.frame(6, [1, 2, 3, 4, 5, 6, 7, 8], stream: 1) + Self.frame(6, [1, 2, 3, 4])
            + Self.frame(8, [0, 0, 0, 8])
        let bytes = before + Self.ping(1) + Self.ping(2) + between + Self.ping(3) + after
        let answers = [1, 2, 3].flatMap { Self.ping($0, flags: 1) }
        for first in 0...bytes.count {
            // Cuts a frame twice, or a frame and the next frame.
            for second in first...min(first + 20, bytes.count) {
                let connection = Self.receive(bytes, cutAt: first, second)
                #expect(connection.passedOn == before + between + after, "\(first) \(second)")
                #expect(connection.answers == answers, "\(first) \(second)")
            }
        }
        var connection = Connection()
        for byte in bytes { connection.receive([byte]) }
        #expect(connection.passedOn == before + between + after)
        #expect(connection.answers == answers)
    }

    // MARK: Resets

    private static func reset(_ stream: UInt16) -> [UInt8] {
        frame(3, [0, 0, 0, 8], stream: stream)
    }
    /// Headers that end the sender's side of a stream.
    private static func whole(_ stream: UInt16) -> [UInt8] {
        frame(1, [0x82], flags: 5, stream: stream)
    }

    @Test func `a reset of a call that has ended is dropped once, wherever its bytes are cut`() {
        let reset = Self.reset(1)
        for cut in 0...reset.count {
            var connection = Connection()
            connection.receive(start + Self.whole(1))
            connection.write(Self.whole(1))
            connection.receive(reset[..<cut])
            connection.receive(reset[cut...] + Self.ping(1) + Self.whole(3))
            #expect(connection.passedOn == start + Self.whole(1) + Self.whole(3), "\(cut)")
            connection.receive(reset)
            #expect(connection.passedOn == start + Self.whole(1) + Self.whole(3) + reset)
        }
    }

    @Test func `a reset of a call that a side has not ended is passed on`() {
        var running = Connection()
        running.receive(start + Self.whole(1) + Self.reset(1))
        running.write(Self.whole(1))
        running.receive(Self.reset(1))
        #expect(running.passedOn == start + Self.whole(1) + Self.reset(1) + Self.reset(1))
        // The server answers before the client has sent its request.
        var early = Connection()
        let half = Self.frame(1, [0x82], flags: 4, stream: 1)
        early.receive(start + half)
        early.write(Self.whole(1))
        early.receive(Self.reset(1))
        #expect(early.passedOn == start + half + Self.reset(1))
    }

    @Test func `the oldest ended streams are forgotten, and all half-ended ones at their bound`() {
        var streams = EndedStreams()
        let ended = (1...UInt32(EndedStreams.maxEnded + 1))
        for stream in ended {
            streams.clientEnded(stream)
            streams.serverEnded(stream)
        }
        #expect(ended.filter { !streams.contains($0) } == [1])
        for stream in 10_000...UInt32(10_000 + EndedStreams.maxHalfEnded) {
            streams.clientEnded(stream)
        }
        streams.serverEnded(10_000)
        streams.serverEnded(10_000 + UInt32(EndedStreams.maxHalfEnded))
        #expect(!streams.contains(10_000))
        #expect(streams.contains(10_000 + UInt32(EndedStreams.maxHalfEnded)))
    }

    @Test func `an answer stands where its ping stood among what is passed on`() {
        var machine = PingMachine()
        machine.wrote(ByteBuffer(bytes: Self.settings))
        var bytes = ByteBuffer(bytes: start + Self.ping(1) + Self.settings)
        #expect(machine.next(of: &bytes) == ByteBuffer(bytes: start))
        #expect(machine.answers() == nil)
        #expect(machine.next(of: &bytes) == ByteBuffer(bytes: Self.settings))
        #expect(machine.answers() == ByteBuffer(bytes: Self.ping(1, flags: 1)))
        #expect(machine.next(of: &bytes) == nil)
    }

    @Test func `the first bit of a stream's number means nothing`() {
        var connection = Connection()
        var ping = Self.ping(1)
        ping[5] = 0x80
        connection.receive(start + ping)
        #expect(connection.answers == Self.ping(1, flags: 1))
    }

    @Test func `what breaks the protocol is left to HTTP/2`() {
        let headers = Self.frame(1, [0x82], stream: 1)
        let rest = Self.frame(9, [0x86], flags: 4, stream: 1)
        let tooLong: [UInt8] = [0xFF, 0xFF, 0xFF, 6, 0, 0, 0, 0, 0]
        let cases = [
            // The cases: a ping before the settings, within headers, and in a frame that is too
            // long.
            preface + Self.ping(1), start + headers + Self.ping(1) + rest,
            start + tooLong + Self.ping(1),
        ]
        for bytes in cases {
            var connection = Connection()
            connection.receive(bytes)
            #expect(connection.passedOn == bytes)
            #expect(connection.answers == [])
        }
        var connection = Connection()
        connection.receive(start + headers + rest + Self.ping(1))
        #expect(connection.answers == Self.ping(1, flags: 1))
    }

    @Test func `an answer waits for the end of what is written`() {
        let headers = Self.frame(1, [0x88], stream: 1)
        let rest = Self.frame(9, [0x89], flags: 4, stream: 1)
        let frames = [
            Self.settings, headers + rest, Self.frame(0, Array(0..<20), stream: 1), Self.settings,
        ]
        let bytes = frames.flatMap { $0 }
        let ends = frames.indices.map { frames[...$0].reduce(0) { $0 + $1.count } }
        for cut in 0...bytes.count {
            var connection = Connection(hasBegun: false)
            connection.write(bytes[..<cut])
            connection.receive(start + Self.ping(1))
            connection.write(bytes[cut...])
            let place = ends.contains(cut) ? cut : bytes.count
            let expected = bytes[..<place] + Self.ping(1, flags: 1) + bytes[place...]
            #expect(connection.written == Array(expected), "\(cut)")
        }
    }

    @Test func `pings without end reach HTTP/2, until a call is answered`() {
        let flood = (0..<3 * PingMachine.allowance).flatMap { _ in Self.ping(1) }
        let answers = (0..<PingMachine.allowance).flatMap { _ in Self.ping(1, flags: 1) }
        var connection = Connection()
        connection.receive(start + flood)
        #expect(connection.answers == answers)
        #expect(connection.passedOn.count == start.count + flood.count - answers.count)

        // Frames that the server writes without a call do not count as an answer to a call.
        let others = Self.settings + Self.ping(2, flags: 1) + Self.frame(8, [0, 0, 0, 8])
        connection.write(others)
        for byte in Self.ping(3) { connection.receive([byte]) }
        #expect(connection.answers == answers + others)
        #expect(connection.passedOn.suffix(Self.ping(3).count) == Self.ping(3)[...])

        connection.write(Self.answer)
        connection.receive(flood)
        #expect(connection.answers == answers + others + Self.answer + answers)
    }

    /// Frames in both directions, some with headers in parts, cut at random places.
    @Test(arguments: UInt64(0)..<50)
    func `random frames arrive whole, in order, and every ping is answered once`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let received = [Self.settings] + (0..<300).map { Self.frames(UInt8($0 % 250), &random) }
        // The last byte distinguishes the server's own pings and answers from the machine's
        // answers.
        let written = (0..<300).map { _ in Self.frames(255, &random) }
        var (toRead, toWrite) = ((preface + received.joined())[...], Array(written.joined())[...])
        var connection = Connection()
        while !toRead.isEmpty || !toWrite.isEmpty {
            let most = [3, 40, 1_000].randomElement(using: &random) ?? 3
            let count = Int.random(in: 0...most, using: &random)
            if Bool.random(using: &random) {
                connection.receive(toRead.prefix(count))
                toRead = toRead.dropFirst(count)
            } else {
                connection.write(toWrite.prefix(count))
                toWrite = toWrite.dropFirst(count)
            }
        }
        let pings = received.filter { $0[3] == 6 && $0[4] == 0 && $0[8] == 0 }
        let kept = received.filter { $0[3] != 6 || $0[4] != 0 || $0[8] != 0 }
        let sent = Self.split(connection.answers)
        let isAnswer = { (frame: [UInt8]) in frame[3] == 6 && frame.last != 255 }
        #expect(connection.passedOn == preface + kept.joined())
        #expect(sent.filter(isAnswer).map { $0.suffix(8) } == pings.map { $0.suffix(8) })
        #expect(sent.filter { !isAnswer($0) } == Self.split(Array(written.joined())))
        for (frame, next) in zip(sent, sent.dropFirst()) where [1, 9].contains(frame[3]) {
            #expect(frame[4] == 4 || next[3] == 9, "something stands within headers")
        }
    }

    /// Returns a frame, or headers in parts.
    private static func frames(_ number: UInt8, _ random: inout SeededRandom) -> [UInt8] {
        func bytes(_ most: Int) -> [UInt8] {
            // The bytes look like pings.
            Array(repeating: ping(9), count: most / 17 + 1).joined().prefix(
                .random(in: 0...most, using: &random)
            ).map { $0 }
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return frame(0, bytes(3_000), stream: 1)
        case 1: return frame(1, bytes(60), flags: 4, stream: 1)
        case 2:
            return frame(1, bytes(60), stream: 1) + frame(9, bytes(60), stream: 1)
                + frame(9, bytes(3), flags: 4, stream: 1)
        case 3: return frame(8, [0, 0, 0, 1])
        case 4: return ping(number, flags: 1).dropLast() + [255]
        case 5: return frame(6, [0, 0, 0, 0, 0, 0, 0, 255], stream: 1)
        default: return ping(number)
        }
    }

    private static func split(_ bytes: [UInt8]) -> [[UInt8]] {
        var (frames, rest) = ([[UInt8]](), bytes[...])
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let length = 9 + Int(head[0]) << 16 + Int(head[1]) << 8 + Int(head[2])
            frames.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return frames
    }

    /// Frames of any kind, some with a wrong length.
    @Test(arguments: UInt64(0)..<100)
    func `of random bytes all but pings is passed on`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        func byte(_ most: UInt8) -> UInt8 { .random(in: 0...most, using: &random) }
        var given = preface
        for _ in 0..<200 {
            let length = Bool.random(using: &random) ? 8 : byte(20)
            let kind: UInt8 = Bool.random(using: &random) ? 6 : byte(12)
            given += [0, 0, length, kind, byte(5), 0, 0, 0, byte(1)]
            let isDamaged = byte(60) == 0
            given += (0..<(isDamaged ? byte(40) : length)).map { _ in byte(8) }
        }
        var connection = Connection()
        var toRead = given[...]
        while !toRead.isEmpty {
            let count = Int(byte(90))
            connection.receive(toRead.prefix(count))
            toRead = toRead.dropFirst(count)
        }
        var (kept, isFirst, isInHeaders) = (preface, true, false)
        var answered = 0
        for frame in Self.split(Array(given.dropFirst(preface.count))) {
            let isWhole = frame.count == 17
            if frame[..<4] == [0, 0, 8, 6], frame[4] & 1 == 0, frame[8] == 0, !isFirst, !isInHeaders
            {
                // The machine keeps an incomplete ping.
                answered += isWhole ? 1 : 0
                continue
            }
            kept += frame
            isFirst = false
            isInHeaders = [1, 5, 9].contains(frame[3]) && frame[4] & 4 == 0
        }
        #expect(connection.passedOn == kept)
        #expect(connection.answers.count == 17 * answered)
    }
}
