import Testing

@testable import TidemarkHTTP

struct PageSessionsTests {
    private func cookie(_ header: String) -> String {
        String(header.prefix { $0 != ";" })
    }

    @Test func `a cookie is known among others, and no other is`() {
        let sessions = PageSessions()
        let header = sessions.begin()
        #expect(header.contains("HttpOnly") && header.contains("SameSite=Strict"))
        let cookie = cookie(header)
        #expect(sessions.knows(["a=b; \(cookie); c=d"]))
        #expect(sessions.knows(["a=b", cookie]))
        #expect(!sessions.knows([]) && !sessions.knows(["tidemark-session="]))
        #expect(!sessions.knows([String(cookie.dropLast())]))
        #expect(!PageSessions().knows([cookie]), "another server's")
    }

    @Test func `there are so many, and the oldest shows the token again`() {
        let sessions = PageSessions()
        let cookies = (0...PageSessions.capacity).map { _ in cookie(sessions.begin()) }
        #expect(Set(cookies).count == cookies.count)
        #expect(!sessions.knows([cookies[0]]) && sessions.knows([cookies[1]]))
    }
}
