/// A key of FirebaseFirestore's store. A key is a sequence of parts, each after a number for its
/// kind, in an encoding whose byte order is the order of the encoded values.
struct StoreKey {
    private enum Label: Int64 {
        case end = 0
        case table = 5
        case batch = 10
        case user = 13
    }

    /// The prefix of the pending writes, by user and number.
    static let mutations = prefix("mutation")
    /// The prefix of the state of each user's queue.
    static let queues = prefix("mutation_queue")
    /// The prefix of the row with the form of the store.
    static let version = prefix("version")

    /// Returns the first bytes of the keys of a table.
    private static func prefix(_ table: String) -> [UInt8] {
        // A small number is encoded as a single byte, plus 0x80; the bytes 0 and 1 end a text.
        [0x80 + UInt8(Label.table.rawValue)] + Array(table.utf8) + [0, 1]
    }

    private var rest: ArraySlice<UInt8>

    /// - Parameter table: The first bytes of the key.
    private init(_ key: [UInt8], in table: [UInt8]) { rest = key.dropFirst(table.count) }

    /// Returns nil for a key of another form.
    static func mutation(_ key: [UInt8]) -> (user: String, batch: Int32)? {
        var key = StoreKey(key, in: mutations)
        guard key.label(.user), let user = key.text(), key.label(.batch),
            let number = key.number(), let batch = Int32(exactly: number), key.label(.end),
            key.rest.isEmpty
        else { return nil }
        return (user, batch)
    }

    /// Returns nil for a key of another form.
    static func queue(_ key: [UInt8]) -> String? {
        var key = StoreKey(key, in: queues)
        guard key.label(.user), let user = key.text(), key.label(.end), key.rest.isEmpty else {
            return nil
        }
        return user
    }

    private mutating func label(_ label: Label) -> Bool { number() == label.rawValue }

    /// Reads a text, which ends with the bytes 0 and 1. A zero is written as 0 and 255, and a 255
    /// as 255 and 0.
    private mutating func text() -> String? {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte != 0, byte != 255 {
                bytes.append(byte)
                continue
            }
            switch (byte, rest.popFirst()) {
            case (0, 1): return String(validating: bytes, as: UTF8.self)
            case (0, 255): bytes.append(0)
            case (255, 0): bytes.append(255)
            default: return nil
            }
        }
        return nil
    }

    /// The highest bit is 1 unless the number is negative. Then follow as many equal bits as bytes
    /// follow the first byte, then a different bit, then the number. No number here has more than
    /// five bytes.
    private mutating func number() -> Int64? {
        guard let first = rest.popFirst() else { return nil }
        let isNegative = first & 0x80 == 0
        let more = (isNegative ? ~first : first).leadingOnes - 1
        guard more <= 4, rest.count >= more else { return nil }
        // The remaining bits of the first byte, with the sign extended.
        let mask = UInt8(0x7F) >> UInt8(more + 1)
        var value = isNegative ? Int64(first | ~mask) | ~0xFF : Int64(first & mask)
        for _ in 0..<more { value = value << 8 | Int64(rest.removeFirst()) }
        return value
    }
}

extension UInt8 {
    /// The number of highest bits that are 1.
    fileprivate var leadingOnes: Int { (~self).leadingZeroBitCount }
}
