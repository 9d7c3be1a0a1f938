import Testing

@testable import TidemarkHTTP
@testable import TidemarkServer

struct `A one-time password` {
    private let environment = AccountsEnvironment.live()

    /// The test vectors of RFC 6238, appendix B, for SHA-1, of which an app shows six digits.
    @Test(
        arguments: [
            (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"),
            (1_234_567_890, "005924"), (2_000_000_000, "279037"), (20_000_000_000, "353130"),
        ] as [(Int64, String)])
    func `is the one of RFC 6238`(seconds: Int64, code: String) {
        let password = OneTimePassword(
            secret: Array("12345678901234567890".utf8), authenticate: environment.authenticate)
        #expect(password.code(OneTimePassword.step(at: seconds)) == code)
    }

    @Test func `is found in neighbouring steps that were not used`() {
        let password = OneTimePassword(
            secret: Array("12345678901234567890".utf8), authenticate: environment.authenticate)
        let now: Int64 = 1_000
        func found(_ step: Int64, neighbours: Int64 = 2, after used: Int64? = nil) -> Int64? {
            password.step(
                of: password.code(step), now: now, neighbours: neighbours, after: used)
        }
        #expect(
            [997, 998, 999, 1_000, 1_001, 1_002, 1_003].map { found($0) }
                == [nil, 998, 999, 1_000, 1_001, 1_002, nil])
        #expect(found(999, neighbours: 0) == nil && found(1_000, neighbours: 0) == 1_000)
        #expect(found(1_000, after: 1_000) == nil && found(1_001, after: 1_000) == 1_001)
        #expect(password.step(of: "", now: now, neighbours: 2, after: nil) == nil)
        #expect(
            password.step(of: "00" + password.code(now), now: now, neighbours: 2, after: nil) == nil
        )
    }

    /// The test vectors of RFC 4648, without padding.
    @Test(arguments: [
        ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"),
        ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI"),
    ])
    func `has its secret in base32`(plain: String, text: String) {
        #expect(Base32.text(Array(plain.utf8)) == text)
        #expect(Base32.bytes(text) == Array(plain.utf8))
        #expect(Base32.bytes(text + "1") == nil)
    }
}
