import Foundation
import Testing
import TidemarkServer

@testable import TidemarkHTTP

/// Clients call the accounts' endpoints with these paths and bodies.
struct AccountCallTests {
    private func server(_ mode: AccountsSettings.Mode = .emulator) async throws -> AccountsServer {
        try await AccountsServer(AccountsSettings(mode, project: "demo"))
    }

    private func ask(
        _ server: AccountsServer, _ path: String, _ fields: [String: JSONTree] = [:],
        method: String = "POST"
    ) async -> AccountsAnswer {
        var request = AccountsRequest()
        request.method = method
        request.path = path
        request.apiKey = "any"
        let body = method == "POST" ? AccountsJSON.data(fields) : Data()
        return await server.answer(request) { _ in body }
    }

    private func error(_ answer: AccountsAnswer) -> String? {
        guard case .object(let error)? = answer.body["error"],
            case .text(let text)? = error["message"]
        else { return nil }
        return text
    }

    private func text(_ value: JSONTree?) -> String? {
        if case .text(let text)? = value { text } else { nil }
    }

    private func form(_ fields: [(String, String)]) -> JSONTree {
        let letters = CharacterSet.alphanumerics
        return .text(
            fields.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: letters) ?? "")" }
                .joined(separator: "&"))
    }

    // MARK: Phones

    @Test(arguments: [
        (
            "/identitytoolkit.googleapis.com/v1/accounts:sendVerificationCode",
            "/identitytoolkit.googleapis.com/v1/accounts:signInWithPhoneNumber"
        ),
        (
            "/www.googleapis.com/identitytoolkit/v3/relyingparty/sendVerificationCode",
            "/www.googleapis.com/identitytoolkit/v3/relyingparty/verifyPhoneNumber"
        ),
    ])
    func `a phone signs in by the code that tools are told`(
        send: String, signIn: String
    ) async throws {
        let server = try await server()
        let sent = await ask(server, send, ["phoneNumber": .text("+15550100")])
        #expect(Array(sent.body.keys) == ["sessionInfo"])
        let listed = await ask(
            server, "/emulator/v1/projects/demo/verificationCodes", method: "GET")
        guard case .list(let codes)? = listed.body["verificationCodes"],
            case .object(let code)? = codes.first
        else {
            Issue.record("there is no code")
            return
        }
        #expect(code["phoneNumber"] == .text("+15550100"))
        #expect(code["sessionInfo"] == sent.body["sessionInfo"])
        #expect(text(code["code"])?.count == 6)
        let answer = await ask(
            server, signIn,
            ["sessionInfo": sent.body["sessionInfo"] ?? .null, "code": code["code"] ?? .null])
        #expect(answer.status == 200)
        #expect(answer.body["isNewUser"] == .bool(true))
        let token = try #require(text(answer.body["idToken"]))
        #expect(text(try TokenDesk.unverified(token)["phone_number"]) == "+15550100")
    }

    @Test(arguments: [
        "/v1/recaptchaParams",
        "/www.googleapis.com/identitytoolkit/v3/relyingparty/getRecaptchaParam",
    ])
    func `a page is told that no proof against robots is asked for`(path: String) async throws {
        let server = try await server()
        let answer = await ask(server, path, method: "GET")
        #expect(answer.status == 200)
        #expect(text(answer.body["recaptchaSiteKey"])?.isEmpty == false)
        #expect(await ask(server, path).status == 405)
    }

    // MARK: Providers

    @Test(arguments: ["facebook.com", "github.com", "twitter.com", "google.com"])
    func `an access token may be the claims themselves`(provider: String) async throws {
        let server = try await server()
        let claims = """
            {"sub": "7", "email": "ann@example.com", "email_verified": true, "name": "Ann & Bea", \
            "screen_name": "ann7"}
            """
        let answer = await ask(
            server, "/v1/accounts:signInWithIdp",
            [
                "postBody": form([("access_token", claims), ("providerId", provider)]),
                "requestUri": .text("http://localhost"),
            ])
        #expect(answer.status == 200, "\(answer.body)")
        #expect(answer.body["rawId"] == .text("7"))
        #expect(answer.body["displayName"] == .text("Ann & Bea"))
        #expect(answer.body["screenName"] == .text("ann7"))
        #expect(answer.body["oauthAccessToken"] == .text(claims))
        #expect(answer.body["oauthIdToken"] == nil, "there was none")
        let users = await ask(
            server, "/v1/accounts:lookup", ["idToken": answer.body["idToken"] ?? .null])
        guard case .list(let list)? = users.body["users"], case .object(let user)? = list.first,
            case .list(let links)? = user["providerUserInfo"],
            case .object(let link)? = links.first
        else {
            Issue.record("\(users.body)")
            return
        }
        #expect(link["providerId"] == .text(provider))
        #expect(link["screenName"] == .text("ann7"))
    }

    @Test func `an access token that says nothing is refused with what to give instead`()
        async throws
    {
        let fields = [
            "postBody": form([("access_token", "EAAB0x"), ("providerId", "facebook.com")])
        ]
        let plain = error(
            await ask(try await server(), "/v1/accounts:signInWithIdp", fields))
        #expect(plain?.hasPrefix("INVALID_IDP_RESPONSE : This server does not check an") == true)
    }

    @Test func `where tokens are signed, claims in an access token are nobody's`() async throws {
        let fields = [
            "postBody": form([("access_token", #"{"sub": "7"}"#), ("providerId", "facebook.com")])
        ]
        let refusal = error(
            await ask(try await server(.secure), "/v1/accounts:signInWithIdp", fields))
        #expect(refusal?.hasPrefix("INVALID_IDP_RESPONSE : An id_token is needed") == true)
    }

    // MARK: Projects

    @Test func `a token of another project is refused with both names and the option`()
        async throws
    {
        let server = try await server()
        let made = await ask(server, "/v1/accounts:signUp")
        let refused = await ask(
            server, "/v1/projects/shop/accounts:lookup",
            ["idToken": made.body["idToken"] ?? .null])
        let message = try #require(error(refused))
        #expect(message.hasPrefix("INVALID_ID_TOKEN : "))
        for part in ["demo", "shop", "--accounts-project"] { #expect(message.contains(part)) }
    }

    // MARK: The hub

    @Test func `triggers of functions are turned off and on, though there are none`() async {
        let hub = EmulatorHub(host: "127.0.0.1", version: "test")
        for (name, text) in [("disable", #"{"enabled":false}"#), ("enable", #"{"enabled":true}"#)] {
            var request = PageRequest(
                method: "PUT", path: ["functions", name + "BackgroundTriggers"])
            let answer = await hub.answer(request)
            #expect(answer?.status == 200)
            guard case .bytes(let bytes)? = answer?.body else {
                Issue.record("there is no answer")
                return
            }
            #expect(String(decoding: bytes, as: UTF8.self) == text)
            request.method = "GET"
            #expect(await hub.answer(request) == nil)
        }
    }
}

struct VerifiedTokensTests {
    @Test func `known tokens have a bound in bytes`() throws {
        let known = VerifiedTokens()
        let facts = try #require(
            TokenFacts([
                "aud": .text("demo"), "sub": .text("ann"), "iat": .integer(1), "exp": .integer(2),
                "iss": .text(TokenFacts.issuer + "demo"),
            ]))
        let padding = String(repeating: "t", count: 16_000)
        for number in 0..<VerifiedTokens.capacity { known["\(number)" + padding] = facts }
        #expect(known.count * padding.utf8.count <= VerifiedTokens.maxBytes)
        #expect(known.count > 100)
        #expect(known["\(VerifiedTokens.capacity - 1)" + padding] == facts, "the newest is known")
        #expect(known["0" + padding] == nil)
    }
}
