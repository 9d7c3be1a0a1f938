import Testing

@testable import TidemarkEncryption

@Suite struct AppKeyTests {
    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)!
        }
    }

    /// Source: RFC 5869, A.1, whose 42 bytes are the first block and ten of the second.
    @Test func `a file's key is made as the standard says`() {
        let made = AppKey.derive(
            [UInt8](repeating: 0x0b, count: 22), salt: bytes("000102030405060708090a0b0c"),
            info: bytes("f0f1f2f3f4f5f6f7f8f9"))
        #expect(
            made.key
                == bytes("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"))
        #expect(made.check.prefix(10) == bytes("34007208d5b887185865")[...])
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
