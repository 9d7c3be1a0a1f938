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
        let bytes = Self.derive(key.bytes, salt: salt)
        let check = bytes.withUnsafeBytes {
            $0.loadUnaligned(fromByteOffset: CacheKey.byteCount, as: UInt64.self)
        }
        return (AESPageCipher(SymmetricKey(data: bytes.prefix(CacheKey.byteCount))), check)
    }

    /// Derives a file's key and the check value of its header with HKDF (RFC 5869, SHA-256).
    ///
    /// The first SHA-256 of a process takes 0.24 ms. That is the price of a standard derivation.
    ///
    /// - Parameters:
    ///   - key: A key of 32 bytes that has no other use.
    ///   - salt: A salt of ``SealedHeader/saltSize`` bytes.
    /// - Returns: The 32 bytes of the key, then the 8 bytes of the check value.
    static func derive(_ key: [UInt8], salt: [UInt8]) -> [UInt8] {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: key), salt: salt, info: purpose,
            outputByteCount: CacheKey.byteCount + 8
        ).withUnsafeBytes(Array.init)
    }

    /// Binds derived keys to this use and to the format of the file.
    private static let purpose = Array("tidemark cache \(SealedHeader.version)".utf8)
}
