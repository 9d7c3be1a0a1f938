import Testing

@testable import TidemarkEncryption

struct AppKeyTests {
    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)!
        }
    }

    /// The expected key is from HKDF of Python's `cryptography`, with `info` "tidemark cache 3" and
    /// 40 bytes.
    @Test func `a file's key is HKDF of the app's key and the file's salt`() {
        let derived = AppKey.derive(
            (0..<32).map { UInt8($0) }, salt: bytes("a0a1a2a3a4a5a6a7a8a9aaab"))
        let key = "b6f4ff76a65638a9ee8d83c988cc0e0355a0aade662212cb0a8a1b20a36901e0"
        #expect(derived == bytes(key + "d89964c7d5b3c494"))
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
