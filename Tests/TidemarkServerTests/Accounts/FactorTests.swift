import Testing

@testable import TidemarkServer

/// A user enrols an app for one-time passwords, and signs in with it.
struct `A second factor` {
    /// The app of a user: it has a secret, and makes codes.
    private struct App {
        let accounts: TestAccounts
        let secret: String
        var id = ""

        /// Returns the code of the present step, or of a step after it.
        func code(_ later: Int64 = 0) -> JSONTree {
            let password = OneTimePassword(
                secret: Base32.bytes(secret) ?? [], authenticate: TestAccounts.authenticate)
            return .text(password.code(OneTimePassword.step(at: accounts.seconds) + later))
        }

        /// Returns a code that the app does not make.
        var wrongCode: JSONTree { .text("x12345") }
    }

    private func word(_ refusal: AccountRefusal?) -> String? {
        refusal?.message.split(separator: " ").first.map(String.init)
    }

    /// Returns a signed-in user with a verified address.
    private func user(_ accounts: TestAccounts) throws -> TestSession {
        let session = try accounts.signUp()
        _ = try accounts.call(
            .update, ["localId": .text(session.localID), "emailVerified": .bool(true)], admin: true)
        return session
    }

    private func begin(
        _ accounts: TestAccounts, _ user: TestSession
    ) throws(AccountRefusal) -> (app: App, session: JSONTree) {
        let reply = try accounts.call(
            .beginFactorEnrolment, ["idToken": .text("t"), "totpEnrollmentInfo": .object([:])],
            token: user.token)
        let info = reply.fields["totpSessionInfo"]?.fields ?? [:]
        return (
            App(accounts: accounts, secret: info["sharedSecretKey"].text ?? ""),
            info["sessionInfo"] ?? .null
        )
    }

    private func finish(
        _ session: JSONTree, _ code: JSONTree
    ) -> [String: JSONTree] {
        [
            "idToken": .text("t"), "displayName": .text("my phone"),
            "totpVerificationInfo": .object(["sessionInfo": session, "verificationCode": code]),
        ]
    }

    private func enrol(
        _ accounts: TestAccounts, _ user: TestSession
    ) throws -> (app: App, reply: AccountReply) {
        let begun = try begin(accounts, user)
        var app = begun.app
        let reply = try accounts.call(
            .finishFactorEnrolment, finish(begun.session, app.code()), token: user.token)
        let claims = reply.claims?["firebase"]?.fields
        app.id = try #require(claims?["second_factor_identifier"].text)
        return (app, reply)
    }

    private func pending(_ accounts: TestAccounts) throws -> AccountReply {
        try accounts.call(
            .signInWithPassword,
            ["email": .text("ann@example.com"), "password": .text("secret-1")])
    }

    private func answer(
        _ pending: AccountReply, _ app: App, _ code: JSONTree
    ) -> [String: JSONTree] {
        [
            "mfaPendingCredential": pending.fields["mfaPendingCredential"] ?? .null,
            "mfaEnrollmentId": .text(app.id),
            "totpVerificationInfo": .object(["verificationCode": code]),
        ]
    }

    // MARK: Both ways

    @Test(arguments: AccountsSettings.Mode.allCases)
    func `is enrolled, asked for, and in every token`(mode: AccountsSettings.Mode) throws {
        let accounts = try TestAccounts(mode)
        let (app, enrolled) = try enrol(accounts, user(accounts))
        #expect(enrolled.fields["totpAuthInfo"] == .object([:]))
        accounts.seconds += 60
        let first = try pending(accounts)
        #expect(first.claims == nil && first.fields["refreshToken"] == nil)
        let info = try #require(first.fields["mfaInfo"].elements.first?.fields)
        #expect(info["mfaEnrollmentId"] == .text(app.id))
        #expect(info["displayName"] == .text("my phone") && info["totpInfo"] == .object([:]))
        #expect(info["enrolledAt"] != nil)
        let reply = try accounts.call(.finishFactorSignIn, answer(first, app, app.code()))
        let signedIn = reply.claims?["firebase"]?.fields
        #expect(signedIn?["sign_in_provider"] == .text("password"))
        #expect(signedIn?["sign_in_second_factor"] == .text("totp"))
        #expect(signedIn?["second_factor_identifier"] == .text(app.id))
        let refreshed = try accounts.refresh(TestSession(reply).refreshToken)
        #expect(refreshed.token.secondFactor == app.id)
        let looked = try accounts.call(
            .lookup, ["idToken": .text("t")], token: refreshed.token)
        let users = looked.fields["users"].elements
        #expect(users.first?.fields?["mfaInfo"].elements.count == 1)
    }

    @Test func `has a session that tells the app what to make`() throws {
        let accounts = try TestAccounts()
        let user = try user(accounts)
        let reply = try accounts.call(
            .beginFactorEnrolment, ["idToken": .text("t"), "totpEnrollmentInfo": .object([:])],
            token: user.token)
        let info = try #require(reply.fields["totpSessionInfo"]?.fields)
        #expect(info["verificationCodeLength"] == .integer(6))
        #expect(info["periodSec"] == .integer(30) && info["hashingAlgorithm"] == .text("SHA1"))
        #expect(info["sharedSecretKey"].text?.utf8.count == 32)
        #expect(info["finalizeEnrollmentTime"] == .text("2023-11-14T22:23:20.000Z"))
    }

    // MARK: Codes

    @Test func `counts a code once, and later ones only`() throws {
        let accounts = try TestAccounts()
        let (app, _) = try enrol(accounts, user(accounts))
        func signIn(_ later: Int64) throws -> String? {
            let fields = answer(try pending(accounts), app, app.code(later))
            return word(accounts.refusal(.finishFactorSignIn, fields))
        }
        #expect(try signIn(0) == "INVALID_CODE", "it was used to enrol")
        #expect(try signIn(-1) == "INVALID_CODE", "it is older than the used one")
        #expect(try signIn(2) == nil)
        #expect(try signIn(2) == "INVALID_CODE")
        #expect(try signIn(1) == "INVALID_CODE")
        #expect(try signIn(3) == nil)
        #expect(try signIn(6) == "INVALID_CODE", "five steps ahead is the most")
        accounts.seconds += 600
        #expect(try signIn(-6) == "INVALID_CODE")
        #expect(try signIn(-5) == nil)
    }

    @Test func `ends a sign-in after five wrong codes`() throws {
        let accounts = try TestAccounts()
        let (app, _) = try enrol(accounts, user(accounts))
        accounts.seconds += 60
        let first = try pending(accounts)
        for _ in 0..<5 {
            let refused = accounts.refusal(.finishFactorSignIn, answer(first, app, app.wrongCode))
            #expect(word(refused) == "INVALID_CODE")
        }
        let gone = accounts.refusal(.finishFactorSignIn, answer(first, app, app.code()))
        #expect(word(gone) == "INVALID_MFA_PENDING_CREDENTIAL")
    }

    @Test func `limits wrong codes over all sign-ins, from any address`() throws {
        let accounts = try TestAccounts()
        let (app, _) = try enrol(accounts, user(accounts))
        accounts.seconds += 60
        var words: [String?] = []
        for number in 0..<12 {
            accounts.address = "10.0.1.\(number)"
            let fields = answer(try pending(accounts), app, app.wrongCode)
            words.append(word(accounts.refusal(.finishFactorSignIn, fields)))
        }
        #expect(words.prefix(10).allSatisfy { $0 == "INVALID_CODE" })
        #expect(words.suffix(2).allSatisfy { $0 == "TOO_MANY_ATTEMPTS_TRY_LATER" })
        let right = answer(try pending(accounts), app, app.code())
        #expect(
            word(accounts.refusal(.finishFactorSignIn, right)) == "TOO_MANY_ATTEMPTS_TRY_LATER")
        accounts.seconds += 60
        let later = answer(try pending(accounts), app, app.code())
        #expect(accounts.refusal(.finishFactorSignIn, later) == nil)
    }

    @Test func `does not count right codes as attempts`() throws {
        let accounts = try TestAccounts()
        let (app, _) = try enrol(accounts, user(accounts))
        for _ in 0..<15 {
            accounts.seconds += 30
            let fields = answer(try pending(accounts), app, app.code())
            #expect(accounts.refusal(.finishFactorSignIn, fields) == nil)
        }
    }

    @Test func `has a sign-in of ten minutes`() throws {
        let accounts = try TestAccounts()
        let (app, _) = try enrol(accounts, user(accounts))
        let first = try pending(accounts)
        accounts.seconds += 601
        let late = accounts.refusal(.finishFactorSignIn, answer(first, app, app.code()))
        #expect(word(late) == "INVALID_MFA_PENDING_CREDENTIAL")
    }

    @Test func `is not asked for after a change that ends sessions`() throws {
        let accounts = try TestAccounts()
        let user = try user(accounts)
        let (app, _) = try enrol(accounts, user)
        let first = try pending(accounts)
        accounts.seconds += 60
        _ = try accounts.call(
            .update, ["localId": .text(user.localID), "password": .text("secret-2")], admin: true)
        let late = accounts.refusal(.finishFactorSignIn, answer(first, app, app.code()))
        #expect(word(late) == "INVALID_MFA_PENDING_CREDENTIAL")
    }

    @Test(arguments: AccountsSettings.Mode.allCases)
    func `is asked for with a token of another account, or from before it`(
        mode: AccountsSettings.Mode
    ) throws {
        let accounts = try TestAccounts(mode)
        let user = try user(accounts)
        let (_, reply) = try enrol(accounts, user)
        let other = TestSession(try accounts.call(.signUp))
        let fields: [String: JSONTree] = [
            "email": .text("ann@example.com"), "password": .text("secret-1"),
            "idToken": .text("t"),
        ]
        for token in [other.token, user.token] {
            let answer = try accounts.call(.signInWithPassword, fields, token: token)
            #expect(answer.fields["idToken"] == nil && answer.claims == nil)
            #expect(answer.fields["mfaPendingCredential"] != nil)
        }
        let own = TestSession(reply).token
        let answer = try accounts.call(.signInWithPassword, fields, token: own)
        #expect(answer.claims != nil, "the caller has shown the factor")
    }

    // MARK: Refusals

    @Test func `needs a verified address`() throws {
        let accounts = try TestAccounts()
        let session = try accounts.signUp()
        let fields: [String: JSONTree] = [
            "idToken": .text("t"), "totpEnrollmentInfo": .object([:]),
        ]
        let refused = accounts.refusal(.beginFactorEnrolment, fields, token: session.token)
        #expect(word(refused) == "UNVERIFIED_EMAIL")
        let anonymous = TestSession(try accounts.call(.signUp))
        let other = accounts.refusal(.beginFactorEnrolment, fields, token: anonymous.token)
        #expect(word(other) == "UNSUPPORTED_FIRST_FACTOR")
        #expect(word(accounts.refusal(.beginFactorEnrolment)) == "MISSING_ID_TOKEN")
    }

    @Test func `is not made by wrong requests`() throws {
        let accounts = try TestAccounts(.emulator)
        let user = try user(accounts)
        let (app, session) = try begin(accounts, user)
        func finished(_ fields: [String: JSONTree]) -> String? {
            word(accounts.refusal(.finishFactorEnrolment, fields, token: user.token))
        }
        #expect(finished(finish(session, app.wrongCode)) == "INVALID_CODE")
        #expect(finished(finish(.text("unknown"), app.code())) == "INVALID_SESSION_INFO")
        #expect(finished(finish(.null, app.code())) == "MISSING_SESSION_INFO")
        #expect(finished(finish(session, .null)) == "MISSING_CODE")
        #expect(finished(["idToken": .text("t")]) == "INVALID_ARGUMENT")
        #expect(
            finished(["idToken": .text("t"), "phoneVerificationInfo": .object([:])])
                == "OPERATION_NOT_ALLOWED")
        let other = TestSession(
            try accounts.call(
                .signUp, ["email": .text("bob@example.com"), "password": .text("secret-1")]))
        _ = try accounts.call(
            .update, ["localId": .text(other.localID), "emailVerified": .bool(true)], admin: true)
        let stolen = accounts.refusal(
            .finishFactorEnrolment, finish(session, app.code()), token: other.token)
        #expect(word(stolen) == "INVALID_SESSION_INFO", "the session is of another account")
        #expect(finished(finish(session, app.code())) == nil)
        #expect(finished(finish(session, app.code())) == "INVALID_SESSION_INFO")
    }

    @Test func `is not a sign-in by wrong requests`() throws {
        let accounts = try TestAccounts(.emulator)
        let (app, _) = try enrol(accounts, user(accounts))
        let first = try pending(accounts)
        func refused(_ change: (inout [String: JSONTree]) -> Void) -> String? {
            var fields = answer(first, app, app.code(1))
            change(&fields)
            return word(accounts.refusal(.finishFactorSignIn, fields))
        }
        #expect(refused({ $0["mfaPendingCredential"] = nil }) == "MISSING_MFA_PENDING_CREDENTIAL")
        #expect(
            refused({ $0["mfaPendingCredential"] = .text("x") })
                == "INVALID_MFA_PENDING_CREDENTIAL")
        #expect(refused({ $0["mfaEnrollmentId"] = nil }) == "MISSING_MFA_ENROLLMENT_ID")
        #expect(refused({ $0["mfaEnrollmentId"] = .text("x") }) == "MFA_ENROLLMENT_NOT_FOUND")
        #expect(refused({ $0["totpVerificationInfo"] = nil }) == "INVALID_ARGUMENT")
        let start: [String: JSONTree] = [
            "mfaPendingCredential": first.fields["mfaPendingCredential"] ?? .null
        ]
        #expect(word(accounts.refusal(.beginFactorSignIn, start)) == "OPERATION_NOT_ALLOWED")
        #expect(refused({ _ in }) == nil)
    }

    @Test func `is one of five`() throws {
        let accounts = try TestAccounts()
        let user = try user(accounts)
        for _ in 0..<5 {
            accounts.seconds += 30
            _ = try enrol(accounts, user)
        }
        let refused = accounts.refusal(
            .beginFactorEnrolment, ["idToken": .text("t"), "totpEnrollmentInfo": .object([:])],
            token: user.token)
        #expect(word(refused) == "SECOND_FACTOR_LIMIT_EXCEEDED")
    }

    // MARK: Withdrawing

    @Test func `is withdrawn by its user`() throws {
        let accounts = try TestAccounts()
        let user = try user(accounts)
        let (app, _) = try enrol(accounts, user)
        let unknown = accounts.refusal(
            .withdrawFactor, ["idToken": .text("t"), "mfaEnrollmentId": .text("x")],
            token: user.token)
        #expect(word(unknown) == "MFA_ENROLLMENT_NOT_FOUND")
        let reply = try accounts.call(
            .withdrawFactor, ["idToken": .text("t"), "mfaEnrollmentId": .text(app.id)],
            token: user.token)
        #expect(reply.claims?["firebase"]?.fields?["sign_in_second_factor"] == nil)
        #expect(try accounts.signIn().localID == user.localID)
    }

    @Test func `is removed by an administrator, and not by its user's update`() throws {
        let accounts = try TestAccounts()
        let user = try user(accounts)
        let (app, _) = try enrol(accounts, user)
        let none = JSONTree.object(["enrollments": .list([])])
        let own = accounts.refusal(
            .update, ["idToken": .text("t"), "mfa": none], token: user.token)
        #expect(word(own) == "INSUFFICIENT_PERMISSION")
        func update(_ list: [String]) -> String? {
            let entries = list.map { JSONTree.object(["mfaEnrollmentId": .text($0)]) }
            return word(
                accounts.refusal(
                    .update,
                    [
                        "localId": .text(user.localID),
                        "mfa": .object(["enrollments": .list(entries)]),
                    ], admin: true))
        }
        #expect(update([app.id]) == nil && update(["other"]) == "INVALID_ARGUMENT")
        #expect(try pending(accounts).claims == nil, "the factor is still there")
        #expect(update([]) == nil)
        #expect(try accounts.signIn().localID == user.localID)
    }

    @Test func `goes with a new owner of the address`() throws {
        let accounts = try TestAccounts()
        let user = try user(accounts)
        _ = try enrol(accounts, user)
        _ = try accounts.call(
            .update, ["localId": .text(user.localID), "emailVerified": .bool(false)], admin: true)
        _ = try accounts.call(
            .sendOobCode,
            ["requestType": .text("EMAIL_SIGNIN"), "email": .text("ann@example.com")])
        let reply = try accounts.call(
            .signInWithEmailLink,
            ["email": .text("ann@example.com"), "oobCode": .text(accounts.code())])
        #expect(reply.claims != nil, "the proven owner does not have the other one's app")
    }

    // MARK: Settings

    @Test func `can be turned off for a project, and its window set`() throws {
        let accounts = try TestAccounts()
        let user = try user(accounts)
        func configure(_ state: String, _ steps: Int64) -> AccountRefusal? {
            let app = JSONTree.object(["adjacentIntervals": .integer(steps)])
            let provider = JSONTree.object(["state": .text(state), "totpProviderConfig": app])
            return accounts.refusal(
                .updateConfig,
                ["mfa": .object(["providerConfigs": .list([provider])])], admin: true)
        }
        #expect(word(configure("ENABLED", 11)) == "INVALID_ARGUMENT")
        #expect(configure("ENABLED", 0) == nil)
        let (app, _) = try enrol(accounts, user)
        accounts.seconds += 60
        let next = answer(try pending(accounts), app, app.code(1))
        #expect(word(accounts.refusal(.finishFactorSignIn, next)) == "INVALID_CODE")
        #expect(configure("DISABLED", 1) == nil)
        let refused = accounts.refusal(
            .beginFactorEnrolment, ["idToken": .text("t"), "totpEnrollmentInfo": .object([:])],
            token: user.token)
        #expect(word(refused) == "OPERATION_NOT_ALLOWED")
        let still = answer(try pending(accounts), app, app.code(1))
        #expect(accounts.refusal(.finishFactorSignIn, still) == nil, "a factor that exists counts")
    }

    @Test func `survives an export`() throws {
        let accounts = try TestAccounts()
        let (app, _) = try enrol(accounts, user(accounts))
        let saved = try accounts.core.saved("test")
        let other = try TestAccounts()
        _ = try other.core.restore(saved, to: "test")
        other.seconds = accounts.seconds + 60
        let moved = App(accounts: other, secret: app.secret, id: app.id)
        let first = try pending(other)
        #expect(first.claims == nil)
        #expect(other.refusal(.finishFactorSignIn, answer(first, moved, moved.code())) == nil)
    }

    @Test func `has a code for tests of an emulator alone`() throws {
        for mode in AccountsSettings.Mode.allCases {
            let accounts = try TestAccounts(mode)
            let (app, _) = try enrol(accounts, user(accounts))
            let codes = try accounts.call(.listVerificationCodes, admin: true)
                .fields["totpCodes"].elements
            guard mode == .emulator else {
                #expect(codes.isEmpty, "a code would replace the factor")
                continue
            }
            #expect(codes.first?.fields?["mfaEnrollmentId"] == .text(app.id))
            let code = try #require(codes.first?.fields?["code"])
            let fields = answer(try pending(accounts), app, code)
            #expect(accounts.refusal(.finishFactorSignIn, fields) == nil)
        }
    }
}
