/// The checksum CRC-32C (Castagnoli) of a sequence of bytes, eight bytes at a step.
struct CRC32C: Hashable, Sendable {
    private(set) var value: UInt32 = 0

    private static let polynomial: UInt32 = 0x82F6_3B78

    /// Eight tables of 256 values: table `k` has the effect of a byte that `k` bytes follow. The
    /// memory is made once and never freed.
    nonisolated(unsafe) private static let tables: UnsafePointer<UInt32> = {
        let tables = UnsafeMutablePointer<UInt32>.allocate(capacity: 8 * 256)
        for index in 0..<256 {
            var value = UInt32(index)
            for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ polynomial : value >> 1 }
            tables[index] = value
        }
        for index in 256..<(8 * 256) {
            let before = tables[index - 256]
            tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
        }
        return UnsafePointer(tables)
    }()

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        let tables = Self.tables
        var crc = ~value
        var at = 0
        // Loops with plain counters: they are fast in debug builds too.
        while at &+ 8 <= bytes.count {
            let low = UInt32(littleEndian: start.loadUnaligned(fromByteOffset: at, as: UInt32.self))
            let high = UInt32(
                littleEndian: start.loadUnaligned(fromByteOffset: at &+ 4, as: UInt32.self))
            let mixed = low ^ crc
            crc = tables[1_792 &+ Int(mixed & 0xFF)]
            crc ^= tables[1_536 &+ Int(mixed >> 8 & 0xFF)]
            crc ^= tables[1_280 &+ Int(mixed >> 16 & 0xFF)]
            crc ^= tables[1_024 &+ Int(mixed >> 24)]
            crc ^= tables[768 &+ Int(high & 0xFF)]
            crc ^= tables[512 &+ Int(high >> 8 & 0xFF)]
            crc ^= tables[256 &+ Int(high >> 16 & 0xFF)]
            crc ^= tables[Int(high >> 24)]
            at = at &+ 8
        }
        while at < bytes.count {
            let byte = UInt32(start.load(fromByteOffset: at, as: UInt8.self))
            crc = crc >> 8 ^ tables[Int((crc ^ byte) & 0xFF)]
            at = at &+ 1
        }
        value = ~crc
    }
}
