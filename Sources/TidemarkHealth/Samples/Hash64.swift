/// 64 bits of some bytes, the same in every process and on every machine. Not against an attacker.
struct Hash64 {
    private var state: UInt64

    init(seed: UInt64) { state = seed ^ 0x9E37_79B9_7F4A_7C15 }

    @inline(__always)
    mutating func combine(_ word: UInt64) {
        let product = (state ^ word).multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
        state = product.high ^ product.low &+ 0xE703_7ED1_A0B4_28DB
    }

    @inline(__always)
    var finished: UInt64 {
        let product = state.multipliedFullWidth(by: 0x8EBC_6AF0_9C88_C6E3)
        return product.high ^ product.low
    }

    @inline(__always)
    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var hash = Hash64(seed: seed &+ UInt64(bytes.count))
        var place = 0
        while place + 8 <= bytes.count {
            hash.combine(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian)
            place += 8
        }
        var rest: UInt64 = 0
        while place < bytes.count {
            rest = rest << 8 | UInt64(bytes[place])
            place += 1
        }
        hash.combine(rest)
        return hash.finished
    }

    static func of(_ text: String, seed: UInt64 = 0) -> UInt64 {
        var text = text
        return text.withUTF8 { of(UnsafeRawBufferPointer($0), seed: seed) }
    }
}
