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
        return (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    func cipher(salt: [UInt8]) -> (cipher: any PageCipher, check: UInt64) {
        let made = Self.derive(key.bytes, salt: salt, info: Array("tidemark cache 1".utf8))
        let check = made.check.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        return (AESPageCipher(SymmetricKey(data: made.key)), check)
    }

    /// RFC 5869 with SHA-256, and its first two blocks. The library's own does the same, and takes 0.3 ms the
    /// first time in a process, which an app waits for when it starts.
    static func derive(
        _ key: [UInt8], salt: [UInt8], info: [UInt8]
    ) -> (key: [UInt8], check: [UInt8]) {
        let extracted = code([key], salt)
        let first = code([info, [1]], extracted)
        return (first, code([first, info, [2]], extracted))
    }

    private static func code(_ pieces: [[UInt8]], _ key: [UInt8]) -> [UInt8] {
        var code = HMAC<SHA256>(key: SymmetricKey(data: key))
        for piece in pieces { code.update(data: piece) }
        return code.finalize().withUnsafeBytes { [UInt8]($0) }
    }
}
