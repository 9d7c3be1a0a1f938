// Most comparisons of a sort are decided by the first bytes of what is compared. As one word beside
// each row they cost no visit of the value itself.

extension Value {
    /// A word that never orders two values otherwise than ``compare(_:_:)`` does: of two that differ in it
    /// the smaller word is of the smaller value; where it is the same, the values decide.
    package var leadingBits: UInt64 { UInt64(typeRank) << 60 | payloadBits >> 4 }

    private var payloadBits: UInt64 {
        switch self {
        case .boolean(let value): value ? 1 << 4 : 0
        // Rounding to a double may make two equal, and never turns them round.
        case .integer(let value): Self.bits(of: Double(value))
        case .double(let value): Self.bits(of: value)
        case .timestamp(let time), .pendingServerTimestamp(let time, _):
            // 39 bits of seconds since the year 1, and the upper 21 of the 30 of nanoseconds.
            UInt64(bitPattern: time.seconds &- Timestamp.min.seconds) << 25
                | (UInt64(time.nanoseconds) & ~0x1FF) >> 5
        case .string(let text): text.withBytes { UInt64(leading: $0) }
        case .bytes(let bytes): bytes.withUnsafeBufferPointer { UInt64(leading: $0) }
        case .null, .reference, .geoPoint, .array, .vector, .map: 0
        }
    }

    /// In the order of doubles, NaN first; both zeros are one.
    private static func bits(of value: Double) -> UInt64 {
        if value.isNaN { return 0 }
        let bits = (value == 0 ? 0 : value).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }
}

extension DocumentPath {
    /// As ``Value/leadingBits``, of the id: right among documents of one collection.
    package var leadingIDBits: UInt64 {
        text.withBytes { bytes in
            let slash = bytes.lastIndex(of: UInt8(ascii: "/"))
            let id = bytes[(slash.map { $0 + 1 } ?? 0)...]
            // Ids with a number in them come first, by that number.
            if PathRules.numericID(id) != nil { return 0 }
            return UInt64(leading: UnsafeBufferPointer(rebasing: id))
        }
    }
}

extension UInt64 {
    /// The first eight bytes, the first one highest; zeros where there are fewer.
    fileprivate init(leading bytes: UnsafeBufferPointer<UInt8>) {
        var word: UInt64 = 0
        for index in 0..<Swift.min(bytes.count, 8) {
            word |= UInt64(bytes[index]) << (56 - 8 * index)
        }
        self = word
    }
}
