import Crypto
import Foundation
import TidemarkStore

/// The app's key. Each file's own key is derived from it with the file's salt, so no two files
/// share a key.
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

    /// Derives a file's key: the halves of five blocks that AES-256 makes of the salt and a
    /// counter, as RFC 8452 (section 4) derives keys. Whole blocks never repeat, but blocks of a
    /// random key may. The library's HMAC and HKDF take 0.25 ms at their first use in a process,
    /// which delays the start of an app.
    ///
    /// - Parameters:
    ///   - key: A key of 32 bytes that has no other use.
    ///   - salt: A salt of 12 bytes.
    static func derive(_ key: [UInt8], salt: [UInt8]) -> (key: [UInt8], check: [UInt8]) {
        let block = 16
        // The library's cipher encrypts zeros in counter mode, which gives these blocks.
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
