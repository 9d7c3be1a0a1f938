import Testing

@testable import TidemarkModel

struct `Bloom filters` {
    private let names = (0..<1_000).map {
        "projects/p/databases/(default)/documents/rooms/room\($0)"
    }

    @Test func `contain every name they were made of`() {
        for count in [1, 2, 3, 10, 1_000] {
            let filter = BloomFilter(names: names.prefix(count))
            #expect(names.prefix(count).allSatisfy(filter.mightContain), "\(count) names")
        }
    }

    @Test func `contain few others`() {
        let filter = BloomFilter(names: names)
        let wrong = (0..<20_000).count { filter.mightContain("projects/p/other\($0)") }
        #expect(wrong < 20, "one in 10,000 is meant; \(wrong) of 20,000 passed")
    }

    @Test func `of nothing contain nothing`() {
        let filter = BloomFilter(names: [String]())
        #expect(filter.bits == BloomFilterBits(bitmap: [], padding: 0, hashCount: 0))
        #expect(!filter.mightContain(""))
        #expect(!filter.mightContain("a"))
    }

    @Test func `never fill whole bytes`() {
        for count in 1...40 {
            #expect((1...7).contains(BloomFilter(names: names.prefix(count)).bits.padding))
        }
    }

    @Test func `survive the wire`() throws {
        let filter = BloomFilter(names: names.prefix(50))
        let received = try #require(BloomFilter(filter.bits))
        #expect(received == filter)
        #expect(names.prefix(50).allSatisfy(received.mightContain))
    }

    /// The hashes of "a" are computed by hand from its digest 0cc175b9c0f1b6a8 31c399e269772661.
    @Test func `set the bits that the rule names`() throws {
        let first: UInt64 = 0xA8B6_F1C0_B975_C10C
        let second: UInt64 = 0x6126_7769_E299_C331
        let bits = Set((0..<3).map { (first &+ UInt64($0) &* second) % 21 })
        var bitmap: [UInt8] = [0, 0, 0]
        for bit in bits { bitmap[Int(bit / 8)] |= 1 << UInt8(bit % 8) }
        let exact = try #require(
            BloomFilter(BloomFilterBits(bitmap: bitmap, padding: 3, hashCount: 3)))
        #expect(exact.mightContain("a"))
        for bit in bits {
            var missing = bitmap
            missing[Int(bit / 8)] &= ~(1 << UInt8(bit % 8))
            let filter = try #require(
                BloomFilter(BloomFilterBits(bitmap: missing, padding: 3, hashCount: 3)))
            #expect(!filter.mightContain("a"), "without bit \(bit)")
        }
    }

    @Test(arguments: [
        BloomFilterBits(bitmap: [1], padding: -1, hashCount: 1),
        BloomFilterBits(bitmap: [1], padding: 8, hashCount: 1),
        BloomFilterBits(bitmap: [], padding: 1, hashCount: 1),
        BloomFilterBits(bitmap: [1], padding: 0, hashCount: 0),
        BloomFilterBits(bitmap: [1], padding: 0, hashCount: -1),
        BloomFilterBits(bitmap: [1], padding: 0, hashCount: .max),
    ])
    func `refuse bits that no server should send`(bits: BloomFilterBits) {
        #expect(BloomFilter(bits) == nil)
    }
}

struct `The digest` {
    /// The test suite of RFC 1321, appendix A.5.
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"),
        ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        (
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
            "d174ab98d277d9f5a5611c2c9f419d9f"
        ),
        (
            "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
            "57edf4a22be3c955ac49da2e2107b67a"
        ),
    ])
    func `is that of RFC 1321`(text: String, hex: String) {
        #expect(Self.hex(MD5.hash(text)) == hex)
    }

    private static func hex(_ hash: (low: UInt64, high: UInt64)) -> String {
        [hash.low, hash.high].map { half in
            (0..<8).map { byte in
                let value = UInt8(truncatingIfNeeded: half >> UInt64(byte * 8))
                return (value < 16 ? "0" : "") + String(value, radix: 16)
            }.joined()
        }.joined()
    }
}
