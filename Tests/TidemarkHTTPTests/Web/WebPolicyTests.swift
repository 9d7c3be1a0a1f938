import Testing

@testable import TidemarkHTTP

/// The requests have the form that a browser, a tool or Google's clients send.
struct WebPolicyTests {
    private let policy = WebPolicy(listeningOn: "127.0.0.1")

    private func call(
        _ method: String = "GET", host: String? = "127.0.0.1:4000", origin: String? = nil,
        type: String? = nil
    ) -> WebCall {
        WebCall(
            method: method, hosts: host.map { [$0] } ?? [], origins: origin.map { [$0] } ?? [],
            contentType: type)
    }

    private func status(_ call: WebCall, _ policy: WebPolicy? = nil) -> Int {
        switch (policy ?? self.policy).verdict(on: call) {
        case .allowed: 200
        case .preflight: 204
        case .refused(let refusal): refusal.status
        }
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:4000", "127.8.9.10:1", "localhost", "LocalHost:4000", "[::1]",
        "[::1]:4000", "tab1.localhost", "a.b.localhost:4000", "Tab1.LocalHost",
    ])
    func `loopback's names are known`(host: String) {
        #expect(status(call(host: host)) == 200)
    }

    @Test(arguments: [
        "evil.example", "evil.example:4000", "127.0.0.1.evil.example", "localhost.evil.example",
        "127.0.0.1@evil.example", "evil.example#127.0.0.1", "127.0.0", "127.0.0.256", "127.0.0.1.",
        "localhost.", "evillocalhost", "localhost.localhost.example", "", ":4000", "[::1", "[::1]x",
        "[::1]:", "localhost:", "localhost:99999",
        "localhost:-1", "localhost:+1", "0.0.0.0:4000", "192.168.1.5:4000", "[::2]", "[]", "::1",
        "１27.0.0.1", "ⓛocalhost",
    ])
    func `other names are not, whatever the method`(host: String) {
        for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS"] {
            #expect(status(call(method, host: host, type: "application/json")) == 403)
        }
    }

    @Test func `a request without a host, or with two of which one is foreign, is refused`() {
        #expect(status(call(host: nil)) == 403)
        var two = call()
        two.hosts.append("evil.example")
        #expect(status(two) == 403)
    }

    @Test func `the bound address and given names are known`() throws {
        let given = try WebPolicy(
            listeningOn: "192.168.1.5", names: ["Tidemark.test", "[fe80::1]"], pages: [])
        for host in ["192.168.1.5:4000", "tidemark.test", "TIDEMARK.TEST:1", "[fe80::1]:4000"] {
            #expect(status(call(host: host), given) == 200, "\(host)")
        }
        for host in ["192.168.1.6", "a.tidemark.test", "tidemark.tes"] {
            #expect(status(call(host: host), given) == 403, "\(host)")
        }
        #expect(status(call(host: "[fe80::2]:1"), WebPolicy(listeningOn: "fe80::2")) == 200)
    }

    @Test(arguments: ["0.0.0.0", "::"])
    func `a server on every address is called by any address and by no other name`(host: String) {
        let policy = WebPolicy(listeningOn: host)
        #expect(status(call(host: "192.168.1.5:4000"), policy) == 200)
        #expect(status(call(host: "[fe80::1]:4000"), policy) == 200)
        #expect(status(call(host: "evil.example:4000"), policy) == 403)
    }

    @Test(arguments: [
        "http://localhost:3000", "https://localhost", "http://127.0.0.1:5173", "http://[::1]:80",
    ])
    func `pages of this machine may call, and read the answer`(origin: String) {
        for method in ["GET", "POST", "DELETE"] {
            let asked = call(method, origin: origin, type: "application/json")
            #expect(policy.verdict(on: asked) == .allowed(origin: origin))
        }
        #expect(
            policy.verdict(on: call("OPTIONS", origin: origin)) == .preflight(origin: origin))
    }

    @Test(arguments: [
        "https://evil.example", "http://localhost.evil.example", "http://127.0.0.1.evil.example",
        "null", "", "http://", "localhost", "file://", "evil://localhost:3000",
        "http://localhost/path", "http://evil.example:4000", "http://user@localhost",
        "http://0.0.0.0:4000",
    ])
    func `other pages may not, whatever the method, and are told nothing`(origin: String) {
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            var asked = call(method, origin: origin, type: "application/json")
            asked.hasCredentials = true
            #expect(status(asked) == 403, "\(method)")
        }
    }

    @Test(arguments: ["no-cors", "cors", "websocket", "navigate"])
    func `what a page of another site loads is refused, and a link to here is not`(mode: String) {
        var asked = call()
        asked.fetch.site = "cross-site"
        asked.fetch.mode = mode
        for destination in [nil, "document", "iframe", "image", "script", "empty"] {
            asked.fetch.destination = destination
            let isVisit = mode == "navigate" && [nil, "document"].contains(destination)
            #expect(status(asked) == (isVisit ? 200 : 403), "\(destination ?? "none")")
            asked.fetch.purpose = "prefetch"
            #expect(status(asked) == 403)
            asked.fetch.purpose = nil
        }
    }

    @Test(arguments: ["image", "audio", "video", "track", "script", "iframe", "empty", nil])
    func `a page of another site shows a file by its link, and loads nothing else`(kind: String?) {
        var asked = call()
        asked.fetch.site = "cross-site"
        asked.fetch.mode = "no-cors"
        asked.fetch.destination = kind
        #expect(status(asked) == 403)
        asked.isDownloadLink = true
        let isShown = ["image", "audio", "video", "track"].contains(kind)
        #expect(status(asked) == (isShown ? 200 : 403))
        asked.fetch.mode = "navigate"
        #expect(status(asked) == (kind == nil ? 200 : 403))
        asked.fetch.mode = "no-cors"
        asked.origins = ["https://evil.example"]
        #expect(status(asked) == 403)
    }

    @Test(arguments: ["same-origin", "same-site", "none", nil])
    func `what a browser does not send for another site is let through`(site: String?) {
        var asked = call()
        asked.fetch.site = site
        asked.fetch.mode = "no-cors"
        #expect(status(asked) == 200)
    }

    @Test func `a page of this machine that says its origin may be another site's`() {
        var asked = call(origin: "http://localhost:3000")
        asked.fetch.site = "cross-site"
        asked.fetch.mode = "cors"
        #expect(status(asked) == 200)
    }

    @Test func `a server's own page may call, by whatever name it was found`() throws {
        let anywhere = WebPolicy(listeningOn: "0.0.0.0")
        let named = try WebPolicy(listeningOn: "127.0.0.1", names: ["tidemark.test"], pages: [])
        for (host, origin, policy) in [
            ("192.168.7.7:4000", "http://192.168.7.7:4000", anywhere),
            ("[fe80::1]:4000", "http://[fe80::1]:4000", anywhere),
            ("192.168.7.7", "http://192.168.7.7:80", anywhere),
            ("tidemark.test:4000", "http://Tidemark.test:4000", named),
            ("tidemark.test", "https://tidemark.test", named),
        ] {
            let asked = call("POST", host: host, origin: origin, type: "application/json")
            #expect(policy.verdict(on: asked) == .allowed(origin: origin), "\(origin)")
        }
        for (host, origin) in [
            ("192.168.7.7:4000", "http://192.168.7.8:4000"),
            ("192.168.7.7:4000", "http://192.168.7.7:4001"),
            ("192.168.7.7:4000", "file://192.168.7.7:4000"), ("192.168.7.7:4000", "null"),
            ("evil.example:4000", "http://evil.example:4000"),
        ] {
            let asked = call("POST", host: host, origin: origin, type: "application/json")
            #expect(status(asked, anywhere) == 403, "\(origin)")
        }
    }

    @Test func `two origins are refused`() {
        var asked = call("POST", origin: "http://localhost", type: "application/json")
        asked.origins.append("http://localhost")
        #expect(status(asked) == 403)
    }

    @Test func `given pages may call`() throws {
        let given = try WebPolicy(
            listeningOn: "localhost", names: [],
            pages: ["https://App.example:443", "capacitor://localhost"])
        for origin in ["https://app.example", "capacitor://localhost"] {
            #expect(status(call(origin: origin), given) == 200, "\(origin)")
        }
        for origin in ["http://app.example", "https://app.example:8443", "https://x.app.example"] {
            #expect(status(call(origin: origin), given) == 403, "\(origin)")
        }
    }

    @Test(arguments: [
        nil, "", "text/plain", "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded", "text/plain; application/json",
        "text/plain, application/json", "application/jsonx", "json",
    ])
    func `a POST that a page can send without asking is refused`(type: String?) {
        let verdict = policy.verdict(on: call("POST", type: type))
        guard case .refused(let refusal) = verdict else {
            Issue.record("\(type ?? "no type") is let through")
            return
        }
        #expect(refusal.status == 415)
        #expect(refusal.message.contains("content-type: application/json"))
    }

    @Test(arguments: [
        "application/json", "Application/JSON", "application/json; charset=utf-8",
        " application/json ;x",
    ])
    func `a POST that is said to be JSON is not`(type: String) {
        #expect(status(call("POST", type: type)) == 200)
    }

    @Test func `nor is one that says who calls, and a form where Google's clients send one`() {
        var asked = call("POST")
        asked.hasCredentials = true
        #expect(status(asked) == 200)
        var form = call("POST", type: "application/x-www-form-urlencoded")
        form.isFormExpected = true
        #expect(status(form) == 200)
        form.contentType = "text/plain"
        #expect(status(form) == 415)
    }

    @Test(arguments: ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
    func `other methods need no content type: a browser asks before those that change`(
        method: String
    ) {
        #expect(status(call(method)) == 200)
    }

    @Test(arguments: ["evil example", "a:80", "", "http://a", "a/b", "ä.example"])
    func `what is no name is refused`(name: String) {
        #expect(throws: WebPolicyError.self) {
            try WebPolicy(listeningOn: "localhost", names: [name], pages: [])
        }
    }

    @Test(arguments: ["app.example", "https://app.example/", "null", "*", "https://", "://a"])
    func `what is no origin is refused`(page: String) {
        #expect(throws: WebPolicyError.self) {
            try WebPolicy(listeningOn: "localhost", names: [], pages: [page])
        }
    }
}
