import TidemarkModel

/// The position in the change log at which a listen continues. The token is opaque to clients, and
/// valid after a restart.
struct ResumeToken: Hashable {
    /// The identity of the token's data.
    let incarnation: Int64
    /// The commit up to which the client knows everything, in microseconds. This is not the read
    /// time, which comes from the clock: the clock can be set back before a restart.
    let position: Int64
    /// The read time of the token's snapshot, which shows the age of the token.
    let readTime: Timestamp

    /// The letters "TMR" and a version.
    private static let magic: [UInt8] = [0x54, 0x4D, 0x52, 1]

    init(incarnation: Int64, position: Int64, readTime: Timestamp) {
        self.incarnation = incarnation
        self.position = position
        self.readTime = readTime
    }

    /// Reads a token; nil for bytes that no server of this kind has created.
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
