import Testing
import TidemarkModel

struct AccessTokenTests {
    @Test func `only the token matches`() throws {
        let token = try #require(AccessToken("secret-7"))
        #expect(token.matches("secret-7"))
        for wrong in ["", "secret-8", "secret-", "secret-77", "secret-7secret-7", "SECRET-7"] {
            #expect(!token.matches(wrong), "\(wrong)")
        }
        #expect(!token.matches(nil))
    }

    @Test func `it is shown as a bearer token`() throws {
        let token = try #require(AccessToken("secret-7"))
        #expect(token.matches(authorization: "Bearer secret-7"))
        #expect(token.matches(authorization: "bearer secret-7"))
        for wrong in ["secret-7", "Basic secret-7", "Bearer", "Bearer ", "Bearer  secret-7"] {
            #expect(!token.matches(authorization: wrong), "\(wrong)")
        }
    }

    @Test func `what metadata cannot carry is none`() {
        for text in ["", "two words", "new\nline", "é", String(repeating: "x", count: 5_000)] {
            #expect(AccessToken(text) == nil)
        }
    }

    @Test func `it does not print`() throws {
        let token = try #require(AccessToken("secret-7"))
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), dumped] {
            #expect(!text.contains("secret"), "\(text)")
        }
    }
}
