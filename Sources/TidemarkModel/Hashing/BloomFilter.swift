/// A set of names, at a few bits per name, that answers "surely absent" or "probably present".
///
/// A server sends a filter of its matches with an existence filter. A client uses the bloom filter
/// to find which of its documents have left the query. Names are full:
/// `projects/P/databases/D/documents/...`.
public struct BloomFilter: Hashable, Sendable {
    public let bits: BloomFilterBits
    /// The number of bits in use; the rest of the bitmap is padding.
    private let bitCount: UInt64

    /// - Returns: The filter; nil for one that no server should send: padding outside `0 ... 7` or
    ///   without a bitmap, bits without hashes, or so many hashes that a lookup would be slow. A
    ///   client then behaves as if no filter had been sent.
    public init?(_ bits: BloomFilterBits) {
        guard (0...7).contains(bits.padding), (0...Self.maxHashCount).contains(bits.hashCount)
        else { return nil }
        if bits.bitmap.isEmpty {
            guard bits.padding == 0 else { return nil }
        } else {
            guard bits.hashCount > 0 else { return nil }
        }
        self.bits = bits
        bitCount = UInt64(bits.bitmap.count) * 8 - UInt64(bits.padding)
    }

    /// Makes a filter of `names`. About one in 10,000 other names passes as a member.
    ///
    /// Uses 20 bits per name, and hashes each name once. A filter of no names is empty and contains
    /// nothing.
    public init(names: some Collection<String>) {
        if names.isEmpty {
            self.init(BloomFilterBits(bitmap: [], padding: 0, hashCount: 0))!
            return
        }
        let bitCount = UInt64(names.count) * Self.bitsPerName + Self.extraBits
        var bitmap = [UInt8](repeating: 0, count: Int((bitCount + 7) / 8))
        for name in names {
            Self.forEachBit(of: name, count: bitCount, hashes: Self.hashCount) { bit in
                bitmap[Int(bit / 8)] |= 1 << UInt8(bit % 8)
                return true
            }
        }
        let padding = UInt64(bitmap.count) * 8 - bitCount
        self.init(
            BloomFilterBits(
                bitmap: bitmap, padding: Int32(padding), hashCount: Int32(Self.hashCount)))!
    }

    /// Returns true for every name in the filter, and rarely for another name.
    public func mightContain(_ name: String) -> Bool {
        if bitCount == 0 { return false }
        var contains = true
        Self.forEachBit(of: name, count: bitCount, hashes: UInt64(bits.hashCount)) { bit in
            contains = bits.bitmap[Int(bit / 8)] & 1 << UInt8(bit % 8) != 0
            return contains
        }
        return contains
    }

    /// Calls `visit` for each bit of a name until `visit` returns false.
    private static func forEachBit(
        of name: String, count: UInt64, hashes: UInt64, _ visit: (UInt64) -> Bool
    ) {
        let (first, second) = MD5.hash(name)
        var hash = first
        for _ in 0..<hashes {
            if !visit(hash % count) { return }
            hash &+= second
        }
    }

    /// The best figures for an error rate of one in 10,000: log2(10,000) / ln 2 bits and
    /// log2(10,000) hashes.
    private static let bitsPerName: UInt64 = 20
    private static let hashCount: UInt64 = 14
    /// Makes small filters slightly larger, as production's are (25 bits for one name). The odd
    /// number keeps the bits from filling whole bytes, as Google's tests for clients require.
    private static let extraBits: UInt64 = 5
    /// Far above the number that any error rate needs.
    private static let maxHashCount: Int32 = 1_000
}
