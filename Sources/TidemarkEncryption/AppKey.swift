import Crypto
import Foundation
import TidemarkStore

/// The app's key, from which each file's own is made with the file's salt (RFC 5869), so that no two files
/// have a key in common.
struct AppKey: StoreKey {
    private let key: SymmetricKey

    init(_ key: CacheKey) { self.key = SymmetricKey(data: key.bytes) }

    func makeSalt() -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    func cipher(salt: [UInt8]) -> (cipher: any PageCipher, check: UInt64) {
        let bytes = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: key, salt: salt, info: Array("tidemark cache 1".utf8),
            outputByteCount: CacheKey.byteCount + 8
        ).withUnsafeBytes(Array.init)
        let check = bytes.withUnsafeBytes {
            $0.loadUnaligned(fromByteOffset: CacheKey.byteCount, as: UInt64.self)
        }
        return (AESPageCipher(SymmetricKey(data: bytes.prefix(CacheKey.byteCount))), check)
    }
}
