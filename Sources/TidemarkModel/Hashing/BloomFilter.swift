/// A set of names that answers "surely not" or "very likely", in a few bits a name.
///
/// A server sends one of its matches with an existence filter, and a client finds with it which of
/// its documents have left the query. Names are full ones, `projects/P/databases/D/documents/...`.
public struct BloomFilter: Hashable, Sendable {
    public let bits: BloomFilterBits
    /// How many of the bitmap's bits count; the others are padding.
    private let bitCount: UInt64

    /// - Returns: Nil for what no server should send: padding out of `0 ... 7` or of nothing, bits
    ///   without hashes, or so many hashes that a test of a name would not be quick. A client then
    ///   does as if there were no filter.
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

    /// The filter of `names`: about one in 10,000 others passes for one of them.
    ///
    /// Costs 20 bits a name, and a hash each. A filter of nothing is empty and contains nothing.
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

    /// Never false for a name that the filter was made of.
    public func mightContain(_ name: String) -> Bool {
        if bitCount == 0 { return false }
        var contains = true
        Self.forEachBit(of: name, count: bitCount, hashes: UInt64(bits.hashCount)) { bit in
            contains = bits.bitmap[Int(bit / 8)] & 1 << UInt8(bit % 8) != 0
            return contains
        }
        return contains
    }

    /// Visits the bits of a name until `visit` returns false.
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

    /// Best for one in 10,000: log2(10,000) / ln 2 bits, and log2(10,000) hashes.
    private static let bitsPerName: UInt64 = 20
    private static let hashCount: UInt64 = 14
    /// Small filters are a little larger, as production's are (25 bits for one name); the odd number
    /// keeps the bits from filling whole bytes, which Google's tests of clients ask for.
    private static let extraBits: UInt64 = 5
    /// Far above what any rate of errors asks for.
    private static let maxHashCount: Int32 = 1_000
}
