import Foundation
import Testing
import TidemarkServer

@testable import TidemarkHTTP

struct AccountRouteTests {
    private func route(_ method: String, _ path: String) -> AccountsRoute? {
        var request = AccountsRequest()
        request.method = method
        request.path = path
        return AccountsRoute(request)
    }

    @Test func `each of Firebase's addresses leads to its method`() {
        let toolkit = "/identitytoolkit.googleapis.com"
        let known: [(String, String, AccountMethod, String?)] = [
            ("POST", toolkit + "/v1/accounts:signUp", .signUp, nil),
            ("POST", "/v1/accounts:signUp", .signUp, nil),
            ("POST", toolkit + "/v1/projects/p/accounts:lookup", .lookup, "p"),
            ("POST", toolkit + "/v1/projects/p/accounts", .create, "p"),
            ("GET", toolkit + "/v1/projects/p/accounts:batchGet", .batchGet, "p"),
            ("POST", toolkit + "/v1/projects/a:b/accounts:query", .query, "a:b"),
            ("POST", toolkit + "/v1/projects/p:createSessionCookie", .createSessionCookie, "p"),
            ("POST", "/securetoken.googleapis.com/v1/token", .refresh, nil),
            (
                "POST", "/www.googleapis.com/identitytoolkit/v3/relyingparty/verifyPassword",
                .signInWithPassword, nil
            ),
            ("POST", toolkit + "/v1/accounts:sendVerificationCode", .sendVerificationCode, nil),
            ("POST", toolkit + "/v1/accounts:signInWithPhoneNumber", .signInWithPhoneNumber, nil),
            (
                "POST", "/www.googleapis.com/identitytoolkit/v3/relyingparty/verifyPhoneNumber",
                .signInWithPhoneNumber, nil
            ),
            ("DELETE", "/emulator/v1/projects/p/accounts", .clearAccounts, "p"),
            ("PATCH", "/emulator/v1/projects/p/config", .updateConfig, "p"),
            ("GET", toolkit + "/v2/projects/p/oauthIdpConfigs", .listProviders, "p"),
            ("DELETE", toolkit + "/v2/projects/p/inboundSamlConfigs/saml.x", .deleteProvider, "p"),
        ]
        for (method, path, expected, project) in known {
            guard case .call(let found, let named, _)? = route(method, path) else {
                Issue.record("\(path) leads nowhere")
                continue
            }
            #expect(found == expected && named == project, "\(path)")
        }
    }

    @Test(arguments: [
        "", "v1/accounts:signUp", "/v1", "/v1/accounts", "/v1/accounts:", "/v1/accounts:x",
        "/v1/projects/p", "/v1/projects/../accounts:signUp", "/v1/projects/%2e%2e/accounts:signUp",
        "/v1/projects/p/q/accounts:signUp", "/v1/%00", "/v1/%zz/accounts:signUp",
        "/v2/projects/p/x", "/emulator/v1/projects/p/x", "/.well-known/x", "/x/y",
        "/www.googleapis.com/identitytoolkit/v3/relyingparty/x",
    ])
    func `other addresses lead nowhere`(path: String) {
        if case .call? = route("POST", path), path != "/v1/accounts" {
            Issue.record("\(path) leads somewhere")
        }
    }

    @Test func `an escaped slash is a part of a name, and no name of a project`() {
        guard case .call(_, let project, _)? = route("POST", "/v1/projects/a%2Fb/accounts:signUp")
        else {
            Issue.record("it leads nowhere")
            return
        }
        #expect(project == "a/b")
        #expect(!AccountsSettings.isProject("a/b"))
    }

    @Test func `a known address with another method says so`() {
        #expect(route("GET", "/v1/accounts:signUp") == .wrongMethod)
        #expect(route("POST", "/v1/projects/p/accounts:batchGet") == .wrongMethod)
        #expect(route("PUT", "/emulator/v1/projects/p/accounts") == .wrongMethod)
    }

    @Test func `depth is counted outside of texts`() {
        func isShallow(_ text: String) -> Bool { AccountsJSON.isShallow(Data(text.utf8)) }
        let most = AccountsJSON.maxDepth
        let (open, close) = (
            String(repeating: "[", count: most), String(repeating: "]", count: most)
        )
        #expect(isShallow(open + close))
        #expect(!isShallow("[" + open + close + "]"))
        #expect(isShallow("\"" + open + open + "\""))
        #expect(isShallow("\"\\\"" + open + open + "\""))
        #expect(!isShallow("\"\\\\\"" + open + open))
    }

    @Test func `forms`() {
        #expect(
            AccountsJSON.form("a=b&c=d%26e&f=g+h&i") == ["a": "b", "c": "d&e", "f": "g h", "i": ""])
        #expect(AccountsJSON.form("a=%zz") == nil)
        #expect(AccountsJSON.form(Array(repeating: "a=b", count: 33).joined(separator: "&")) == nil)
    }
}
