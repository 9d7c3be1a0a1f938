import Foundation
import Synchronization
import Testing
import Tidemark

@testable import TidemarkApp

/// Answers Google's calls about phones as Google's reference describes them. There is one account
/// with a second factor, and one code.
private final class PhoneServer: AccountsTransport {
    static let code = "123456"
    private static let secondFactor =
        #"[{"mfaEnrollmentId":"f1","displayName":"mine","phoneInfo":"+*******4567"}]"#

    private let state = Mutex<(paths: [String], bodies: [String], hasFactor: Bool)>(([], [], false))

    var paths: [String] { state.withLock { $0.paths } }
    var bodies: [String] { state.withLock { $0.bodies } }

    private static func token(_ user: String) -> String {
        let body = Data(#"{"sub":"\#(user)"}"#.utf8).base64EncodedString()
            .replacingOccurrences(of: "=", with: "")
        return "e30.\(body).s"
    }

    func send(
        _ request: AccountsRequest
    ) async throws(AccountsUnreachable) -> AccountsReply {
        let body = String(decoding: request.body, as: UTF8.self)
        let hasFactor = state.withLock { state in
            state.paths.append(request.path)
            state.bodies.append(body)
            if request.path.hasSuffix("mfaEnrollment:finalize"), body.contains(Self.code) {
                state.hasFactor = true
            }
            if request.path.hasSuffix("mfaEnrollment:withdraw") { state.hasFactor = false }
            return state.hasFactor
        }
        let (status, text) = Self.answer(request.path, body, hasFactor)
        return AccountsReply(status: status, body: Array(text.utf8))
    }

    private static func answer(
        _ path: String, _ body: String, _ hasFactor: Bool
    ) -> (Int, String) {
        let tokens = #""idToken":"\#(token("ada"))","refreshToken":"r""#
        let isRight = body.contains(#""code":"\#(code)""#)
        switch path {
        case "v1/accounts:sendVerificationCode":
            if !body.contains("+41") { return refusal("INVALID_PHONE_NUMBER : too short") }
            return (200, #"{"sessionInfo":"s1"}"#)
        case "v1/accounts:signInWithPhoneNumber":
            if !isRight { return refusal("INVALID_CODE") }
            return (200, #"{"localId":"ada","isNewUser":true,"expiresIn":"3600",\#(tokens)}"#)
        case "v1/accounts:signInWithPassword":
            if !hasFactor { return (200, #"{"localId":"ada",\#(tokens)}"#) }
            return (
                200,
                #"{"localId":"ada","mfaPendingCredential":"p","mfaInfo":\#(secondFactor)}"#
            )
        case "v1/accounts:lookup":
            let factors = hasFactor ? secondFactor : "[]"
            return (200, #"{"users":[{"localId":"ada","mfaInfo":\#(factors)}]}"#)
        case "v2/accounts/mfaEnrollment:start":
            return (200, #"{"phoneSessionInfo":{"sessionInfo":"s2"}}"#)
        case "v2/accounts/mfaSignIn:start":
            return (200, #"{"phoneResponseInfo":{"sessionInfo":"s3"}}"#)
        case "v2/accounts/mfaEnrollment:finalize", "v2/accounts/mfaSignIn:finalize":
            return isRight ? (200, "{\(tokens)}") : refusal("SESSION_EXPIRED")
        case "v2/accounts/mfaEnrollment:withdraw": return (200, "{\(tokens)}")
        default: return (404, "{}")
        }
    }

    private static func refusal(_ word: String) -> (Int, String) {
        (400, #"{"error":{"code":400,"message":"\#(word)"}}"#)
    }
}

struct `A phone` {
    private let server = PhoneServer()
    private let folder = TestFolder()

    private func accounts() throws -> Accounts {
        Accounts(server, store: try FileCredentialStore(folder: folder.path, key: nil))
    }

    @Test func `signs in with the code that came`() async throws {
        let accounts = try accounts()
        let verification = try await accounts.sendCode(
            to: "+41441234567", attestation: .applePush(receipt: "rec", secret: "sec"))
        #expect(
            server.bodies.last?.contains(#""iosReceipt":"rec""#) == true
                && server.bodies.last?.contains(#""iosSecret":"sec""#) == true)
        await #expect(throws: AccountError.wrongCode) {
            try await accounts.signIn(with: verification, code: "000000")
        }
        #expect(accounts.user == nil)
        let user = try await accounts.signIn(with: verification, code: PhoneServer.code)
        #expect(accounts.user == user && user.text == "ada")
        #expect(server.bodies.last?.contains(#""sessionInfo":"s1""#) == true)
    }

    @Test func `needs a number with its country`() async throws {
        let accounts = try accounts()
        await #expect(throws: AccountError.phoneInvalid) {
            try await accounts.sendCode(to: "044", attestation: .none)
        }
    }

    @Test func `becomes a second factor, is asked for, and can be removed`() async throws {
        let accounts = try accounts()
        try await accounts.signIn(email: "ada@b.c", password: "correct horse")
        let enrolling = try await accounts.startEnrolling(
            phone: "+41441234567", attestation: .recaptcha(token: "t"))
        await #expect(throws: AccountError.codeExpired) {
            try await accounts.enroll(enrolling, code: "000000")
        }
        try await accounts.enroll(enrolling, code: PhoneServer.code, named: "mine")
        let factor = try #require(try await accounts.secondFactors().first)
        #expect(factor.name == "mine" && factor.phoneNumber == "+*******4567")
        try await accounts.signOut()

        var challenge: SecondFactorChallenge?
        do throws(AccountError) {
            try await accounts.signIn(email: "ada@b.c", password: "correct horse")
            Issue.record("the password alone is not enough")
        } catch {
            if case .needsSecondFactor(let found) = error { challenge = found }
        }
        let asked = try #require(challenge)
        #expect(accounts.user == nil && asked.factors == [factor])
        let verification = try await accounts.sendCode(
            to: factor, of: asked, attestation: .recaptcha(token: "t"))
        #expect(server.bodies.last?.contains(#""mfaEnrollmentId":"f1""#) == true)
        try await accounts.signIn(asked, with: verification, code: PhoneServer.code)
        #expect(accounts.user?.text == "ada")
        try await accounts.remove(factor)
        #expect(try await accounts.secondFactors().isEmpty)
    }
}
