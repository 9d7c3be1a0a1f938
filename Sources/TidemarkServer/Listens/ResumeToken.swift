import TidemarkModel

/// Where a listen goes on: a position in the change log. Opaque to clients, and good after a restart.
struct ResumeToken: Hashable {
    /// Of the data it was made over.
    let incarnation: Int64
    /// The commit up to which the client knows everything, in microseconds. Not the read time: that is
    /// the clock's, which a restart may find set back.
    let position: Int64
    /// What the snapshot said it was as of, and so how old the token is.
    let readTime: Timestamp

    /// "TMR" and a version.
    private static let magic: [UInt8] = [0x54, 0x4D, 0x52, 1]

    init(incarnation: Int64, position: Int64, readTime: Timestamp) {
        self.incarnation = incarnation
        self.position = position
        self.readTime = readTime
    }

    /// Nil for what no server of this kind has made.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.magic.count + 24, bytes.starts(with: Self.magic) else {
            return nil
        }
        func number(_ index: Int) -> Int64 {
            let start = Self.magic.count + 8 * index
            return Int64(
                bitPattern: bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) })
        }
        let range = Timestamp.min.microseconds...Timestamp.max.microseconds
        guard range.contains(number(1)), range.contains(number(2)) else { return nil }
        self.init(
            incarnation: number(0), position: number(1),
            readTime: Timestamp(microseconds: number(2)))
    }

    var bytes: [UInt8] {
        var result = Self.magic
        for number in [incarnation, position, readTime.microseconds] {
            let bits = UInt64(bitPattern: number)
            for shift in 0..<8 {
                result.append(UInt8(truncatingIfNeeded: bits >> (56 - 8 * shift)))
            }
        }
        return result
    }
}
