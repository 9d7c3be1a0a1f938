/// Passwords that follow from a secret and the time (RFC 6238), with SHA-1, six digits and steps of
/// 30 seconds, as apps for authentication expect them.
struct OneTimePassword: Sendable {
    /// The length of a step in seconds.
    static let period: Int64 = 30
    static let digits = 6
    /// The number of bytes of a new secret, as RFC 4226 recommends.
    static let secretBytes = 20

    let secret: [UInt8]
    /// HMAC with SHA-1: takes the key and the message.
    let authenticate: @Sendable ([UInt8], [UInt8]) -> [UInt8]

    /// Returns the step that contains a time, in seconds since 1970.
    static func step(at seconds: Int64) -> Int64 { seconds / period }

    /// Returns the code of a step: six digits.
    func code(_ step: Int64) -> String {
        let counter = withUnsafeBytes(of: step.bigEndian) { Array($0) }
        let mac = authenticate(secret, counter)
        // RFC 4226, 5.3: the last four bits say where the 31 bits of the code begin.
        let offset = Int(mac[mac.count - 1] & 15)
        let bits = mac[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let digits = String(bits & 0x7FFF_FFFF).suffix(Self.digits)
        return String(repeating: "0", count: Self.digits - digits.utf8.count) + digits
    }

    /// Returns the step of a code, the nearest first; nil if the code is of none.
    ///
    /// - Parameters:
    ///   - code: The user's digits.
    ///   - now: The step of the present time.
    ///   - neighbours: The number of steps before and after it whose codes count too.
    ///   - used: The step of the last accepted code. No step up to it counts again.
    func step(of code: String, now: Int64, neighbours: Int64, after used: Int64?) -> Int64? {
        var found: Int64?
        for step in (now - neighbours...now + neighbours) where step > used ?? .min {
            // All steps are compared, so that the time does not reveal the step.
            let isEqual = isSame(Array(self.code(step).utf8), Array(code.utf8))
            guard isEqual else { continue }
            if found.map({ abs(step - now) < abs($0 - now) }) ?? true { found = step }
        }
        return found
    }
}

/// Base32 (RFC 4648) without padding, the form in which apps for authentication take secrets.
enum Base32 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var (bits, count) = (UInt32(0), 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(letters[Int(bits >> UInt32(count)) & 31])
            }
            bits &= 0xFF
        }
        if count > 0 { text.append(letters[Int(bits << UInt32(5 - count)) & 31]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns nil if the text has a letter that is not in the alphabet.
    static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count) = (UInt32(0), 0)
        for letter in text.utf8 {
            guard let value = letters.firstIndex(of: letter) else { return nil }
            bits = (bits << 5 | UInt32(value)) & 0xFFFF
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }
}
