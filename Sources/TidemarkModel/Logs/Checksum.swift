/// CRC-32C with LevelDB's masking. The mask keeps a checksum strong when the data contains
/// checksums.
package enum Checksum {
    // Eight tables process eight bytes per step.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var value = UInt32(byte)
            for _ in 0..<8 { value = (value >> 1) ^ (value & 1 == 1 ? 0x82F6_3B78 : 0) }
            tables[byte] = value
        }
        for index in 256..<tables.count {
            let before = tables[index - 256]
            tables[index] = (before >> 8) ^ tables[Int(before & 0xFF)]
        }
        return tables
    }()

    /// Returns the masked checksum of a record's type and bytes.
    package static func masked(type: UInt8, _ bytes: UnsafeRawBufferPointer) -> UInt32 {
        masked(
            tables.withUnsafeBufferPointer { tables in
                var crc = ~UInt32(0)
                crc = (crc >> 8) ^ tables[Int(UInt8(truncatingIfNeeded: crc) ^ type)]
                return ~extend(crc, bytes: bytes, tables: tables)
            })
    }

    /// Returns the masked checksum of `bytes`.
    package static func masked(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        masked(tables.withUnsafeBufferPointer { ~extend(~0, bytes: bytes, tables: $0) })
    }

    private static func masked(_ value: UInt32) -> UInt32 {
        ((value >> 15) | (value << 17)) &+ 0xA282_EAD8
    }

    private static func extend(
        _ start: UInt32, bytes: UnsafeRawBufferPointer, tables: UnsafeBufferPointer<UInt32>
    ) -> UInt32 {
        var crc = start
        var index = 0
        while bytes.count - index >= 8 {
            let word = UInt64(
                littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let low = UInt32(truncatingIfNeeded: word) ^ crc
            let high = UInt32(truncatingIfNeeded: word >> 32)
            var next: UInt32 = 0
            for place in 0..<4 {
                let shift = UInt32(8 * place)
                next ^= tables[(7 - place) * 256 + Int((low >> shift) & 0xFF)]
                next ^= tables[(3 - place) * 256 + Int((high >> shift) & 0xFF)]
            }
            crc = next
            index += 8
        }
        while index < bytes.count {
            crc = (crc >> 8) ^ tables[Int(UInt8(truncatingIfNeeded: crc) ^ bytes[index])]
            index += 1
        }
        return crc
    }
}
