import Testing

@testable import TidemarkEncryption

@Suite struct AppKeyTests {
    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)!
        }
    }

    /// Source: the first halves of what `openssl enc -aes-256-ecb` makes of the salt and the counters 2 to 6.
    @Test func `a file's key is halves of blocks of the salt`() {
        let made = AppKey.derive(
            (0..<32).map { UInt8($0) }, salt: bytes("a0a1a2a3a4a5a6a7a8a9aaab"))
        #expect(
            made.key
                == bytes("e6187c2d45cb02bf70ac591092b7426cd27647ffaf22533d471b464862d01a7e"))
        #expect(made.check == bytes("b4bc856f30a5e4e0"))
    }

    @Test func `another salt or another key makes another cipher`() {
        let (key, other) = (CacheKey.random(), CacheKey.random())
        let salt = AppKey(key).makeSalt()
        let check = AppKey(key).cipher(salt: salt).check
        #expect(AppKey(key).cipher(salt: salt).check == check)
        #expect(AppKey(other).cipher(salt: salt).check != check)
        #expect(AppKey(key).cipher(salt: AppKey(key).makeSalt()).check != check)
    }
}
