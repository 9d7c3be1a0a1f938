import Crypto

/// The key of a picture: 128 bits of SHA-256 over its address and version, so no file name contains
/// text of a server or a user.
struct PictureID: Hashable, Sendable, CustomStringConvertible {
    let high, low: UInt64

    init(address: String, version: String?) {
        var hash = SHA256()
        hash.update(data: Array(address.utf8))
        // No address contains a line's end.
        if let version { hash.update(data: Array("\n\(version)".utf8)) }
        var words: [UInt64] = [0, 0]
        for (index, byte) in hash.finalize().prefix(16).enumerated() {
            words[index / 8] = words[index / 8] << 8 | UInt64(byte)
        }
        (high, low) = (words[0], words[1])
    }

    /// Parses 32 hexadecimal digits in the form of ``description``.
    init?(_ text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard digits.count == 32, !digits.contains(where: { (65...90).contains($0) }),
            let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        (self.high, self.low) = (high, low)
    }

    var description: String { [high, low].map(Hexadecimal.text).joined() }
}

enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns the SHA-256 digest of the bytes.
    static func digest(_ bytes: UnsafeRawBufferPointer) -> String {
        var hash = SHA256()
        hash.update(bufferPointer: bytes)
        return text(hash.finalize())
    }

    static func text(_ word: UInt64) -> String {
        text((0..<8).reversed().map { UInt8(truncatingIfNeeded: word >> UInt64(8 * $0)) })
    }

    static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// A picture at a size: the key of a single decode.
struct SizedID: Hashable, Sendable {
    let id: PictureID
    let size: PictureSize
    let mode: PictureFit
}
