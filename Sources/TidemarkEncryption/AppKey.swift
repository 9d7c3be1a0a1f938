import Crypto
import Foundation
import TidemarkStore

/// The app's key, from which each file's own is made with the file's salt, so that no two files have a key in
/// common.
struct AppKey: StoreKey {
    private let key: CacheKey

    init(_ key: CacheKey) { self.key = key }

    func makeSalt() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<SealedHeader.saltSize).map { _ in
            UInt8.random(in: 0...255, using: &random)
        }
    }

    func cipher(salt: [UInt8]) -> (cipher: any PageCipher, check: UInt64) {
        let made = Self.derive(key.bytes, salt: salt)
        let check = made.check.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        return (AESPageCipher(SymmetricKey(data: made.key)), check)
    }

    /// Halves of five blocks that AES-256 makes of the salt and a counter, as RFC 8452 (4) derives keys: whole blocks
    /// are never the same, which a random key's might be. The library's HMAC and HKDF take 0.25 ms the first time
    /// in a process, which an app waits for when it starts.
    ///
    /// - Parameters:
    ///   - key: Of 32 bytes, and used for nothing else.
    ///   - salt: Of 12 bytes.
    static func derive(_ key: [UInt8], salt: [UInt8]) -> (key: [UInt8], check: [UInt8]) {
        let block = 16
        // Counter mode is in what the library's cipher does with zeros.
        let blocks = try? AES.GCM.seal(
            [UInt8](repeating: 0, count: 5 * block), using: SymmetricKey(data: key),
            nonce: AES.GCM.Nonce(data: salt)
        ).ciphertext
        guard let blocks else { preconditionFailure("a key or a salt of another length") }
        let halves = stride(from: 0, to: 5 * block, by: block).map { start in
            [UInt8](blocks.dropFirst(start).prefix(block / 2))
        }
        return (Array(halves[..<4].joined()), halves[4])
    }
}
