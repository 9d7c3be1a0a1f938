import Testing

@testable import TidemarkModel
@testable import TidemarkWire

struct UnpackingTests {
    /// 100,000 zeros, compressed by Python's `gzip`.
    private let zeros = Self.bytes(
        """
        1f8b0800000000000203edc13101000000c2a0f54f6d0d0fa0000000000000000000000000000000
        00000000000000000000000000000000000000000000000000000000000000000000000000000000
        00000000000000000000000000000000000000000000000000000000000000000000000000000000
        008057037d9511d4a0860100
        """)
    /// `hello, hello, hello`, compressed by Python's `gzip`.
    private let hello = Self.bytes("1f8b0800000000000203cb48cdc9c9d751c840a2009fa1ca0913000000")

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }

    private static func refusal(
        _ unpacking: Unpacking, _ packed: [UInt8]
    ) -> RPCStatus? {
        do throws(RPCStatus) {
            _ = try unpacking.unpack(packed)
            return nil
        } catch { return error }
    }

    @Test func `what another packed is unpacked`() throws {
        let unpacking = Unpacking()
        #expect(try unpacking.unpack(hello).bytes == Array("hello, hello, hello".utf8))
        #expect(try unpacking.unpack(zeros).bytes == [UInt8](repeating: 0, count: 100_000))
        #expect(unpacking.heldBytes == 0)
    }

    @Test func `a request's limit is of its unpacked size, to the byte`() {
        #expect(Self.refusal(Unpacking(perRequest: 100_000, limit: 1_000_000), zeros) == nil)
        let small = Unpacking(perRequest: 99_999, limit: 1_000_000)
        let refusal = Self.refusal(small, zeros)
        #expect(refusal?.code == .resourceExhausted)
        #expect(refusal?.message.contains("99999") == true)
        #expect(small.heldBytes == 0)
    }

    @Test func `all together are bounded, until they are let go`() throws {
        let unpacking = Unpacking(perRequest: 100_000, limit: 250_000)
        var kept = try (0..<2).map { _ in try unpacking.unpack(zeros) }
        #expect(unpacking.heldBytes == 200_000)
        #expect(Self.refusal(unpacking, zeros)?.code == .resourceExhausted)
        #expect(Self.refusal(unpacking, hello) == nil)
        #expect(unpacking.heldBytes == 200_000)
        kept.removeLast()
        #expect(Self.refusal(unpacking, zeros) == nil)
    }

    @Test func `what is damaged or cut off is refused, and holds nothing`() {
        let unpacking = Unpacking()
        for count in 0..<zeros.count {
            #expect(
                Self.refusal(unpacking, Array(zeros.prefix(count)))?.code == .invalidArgument,
                "\(count)")
        }
        #expect(Self.refusal(unpacking, zeros + [0])?.code == .invalidArgument)
        var damaged = zeros
        damaged[damaged.count - 5] ^= 1
        #expect(Self.refusal(unpacking, damaged)?.code == .invalidArgument)
        #expect(unpacking.heldBytes == 0)
    }

    /// Messages with and without a mark, cut into frames of random lengths.
    @Test func `marks are taken off where messages begin, and nowhere else`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            var sent: [UInt8] = []
            var expected: [UInt8] = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let length = [0, 1, 5, 255, 256, 700].randomElement(using: &random)!
                let body = (0..<length).map { _ in UInt8.random(in: 0...2, using: &random) }
                let prefix: [UInt8] = [0, 0, UInt8(length >> 8), UInt8(length & 255)]
                sent += [UInt8.random(in: 0...1, using: &random)] + prefix + body
                expected += [0] + prefix + body
            }
            var marks = PackedMarks()
            var place = 0
            var received: [UInt8] = []
            while place < sent.count {
                let step = Int.random(in: 1...9, using: &random)
                var frame = Array(sent[place..<min(sent.count, place + step)])
                frame.withUnsafeMutableBytes { marks.remove(from: $0) }
                received += frame
                place += step
            }
            #expect(received == expected)
            #expect(marks == PackedMarks())
        }
    }
}
