import Testing

@testable import TidemarkServer

/// A user signs in with a code that was sent to a phone.
struct PhoneTests {
    private static let number = "+15550100"

    private func send(
        _ accounts: TestAccounts, _ number: String = Self.number
    ) throws -> (session: JSONTree, code: JSONTree) {
        let reply = try accounts.call(.sendVerificationCode, ["phoneNumber": .text(number)])
        let session = try #require(reply.fields["sessionInfo"])
        let codes = try accounts.call(.listVerificationCodes, admin: true)
        let mine = try #require(
            codes.fields["verificationCodes"].elements.last {
                $0.fields?["sessionInfo"] == session
            })
        #expect(mine.fields?["phoneNumber"] == .text(Self.number))
        return (session, mine.fields?["code"] ?? .null)
    }

    private func fields(
        _ sent: (session: JSONTree, code: JSONTree), _ more: [String: JSONTree] = [:]
    ) -> [String: JSONTree] {
        more.merging(["sessionInfo": sent.session, "code": sent.code]) { $1 }
    }

    private func signIn(_ accounts: TestAccounts) throws -> AccountReply {
        try accounts.call(.signInWithPhoneNumber, fields(send(accounts)))
    }

    private func word(_ refusal: AccountRefusal?) -> String? {
        refusal?.message.split(separator: " ").first.map(String.init)
    }

    @Test(arguments: AccountsSettings.Mode.allCases)
    func `a code makes an account, and the next one signs in to it`(
        mode: AccountsSettings.Mode
    ) throws {
        let accounts = try TestAccounts(mode)
        let first = try signIn(accounts)
        #expect(first.fields["isNewUser"] == .bool(true))
        #expect(first.fields["phoneNumber"] == .text(Self.number))
        let claims = try #require(first.claims)
        #expect(claims["phone_number"] == .text(Self.number))
        let said = claims["firebase"]?.fields
        #expect(said?["sign_in_provider"] == .text("phone"))
        #expect(said?["identities"]?.fields?["phone"] == .list([.text(Self.number)]))
        let second = try signIn(accounts)
        #expect(second.fields["isNewUser"] == .bool(false))
        #expect(second.fields["localId"] == first.fields["localId"])
    }

    @Test func `digits may be set apart`() throws {
        let accounts = try TestAccounts()
        _ = try send(accounts, "+1 (555) 01-00")
    }

    @Test(arguments: ["", "15550100", "+", "+1-x", "+1234567890123456"])
    func `what is no number is sent nothing`(number: String) throws {
        let accounts = try TestAccounts()
        #expect(
            accounts.refusal(.sendVerificationCode, ["phoneNumber": .text(number)])
                == .invalidPhoneNumber)
        #expect(accounts.refusal(.sendVerificationCode) == .invalidPhoneNumber)
    }

    @Test(arguments: AccountsSettings.Mode.allCases)
    func `a code is good once, for an hour, and for its session`(
        mode: AccountsSettings.Mode
    ) throws {
        let accounts = try TestAccounts(mode)
        let sent = try send(accounts)
        let other = try send(accounts)
        var wrong = fields(sent)
        wrong["code"] = other.code == sent.code ? .text("x") : other.code
        #expect(word(accounts.refusal(.signInWithPhoneNumber, wrong)) == "INVALID_CODE")
        _ = try accounts.call(.signInWithPhoneNumber, fields(sent))
        #expect(
            word(accounts.refusal(.signInWithPhoneNumber, fields(sent))) == "INVALID_SESSION_INFO")
        accounts.seconds += 3_601
        #expect(word(accounts.refusal(.signInWithPhoneNumber, fields(other))) == "SESSION_EXPIRED")
        for (missing, expected) in [
            ("sessionInfo", "MISSING_SESSION_INFO"), ("code", "MISSING_CODE"),
        ] {
            var fields = fields(try send(accounts))
            fields[missing] = nil
            #expect(word(accounts.refusal(.signInWithPhoneNumber, fields)) == expected)
            fields[missing] = .text("")
            #expect(word(accounts.refusal(.signInWithPhoneNumber, fields)) == expected)
        }
    }

    @Test func `where tokens are signed, five wrong codes end a session`() throws {
        let accounts = try TestAccounts()
        let sent = try send(accounts)
        var wrong = fields(sent)
        wrong["code"] = .text("none")
        for _ in 0..<5 {
            #expect(word(accounts.refusal(.signInWithPhoneNumber, wrong)) == "INVALID_CODE")
        }
        #expect(
            word(accounts.refusal(.signInWithPhoneNumber, fields(sent))) == "INVALID_SESSION_INFO")
    }

    @Test func `where tokens are signed, one number is sent five codes in a row`() throws {
        let accounts = try TestAccounts()
        for _ in 0..<5 { _ = try send(accounts) }
        let ask: [String: JSONTree] = ["phoneNumber": .text(Self.number)]
        #expect(accounts.refusal(.sendVerificationCode, ask) == .tooManyAttempts)
        #expect(
            accounts.refusal(.sendVerificationCode, ["phoneNumber": .text("+15550101")]) == nil)
    }

    @Test func `a number is added to an account, and is one account's`() throws {
        let accounts = try TestAccounts(.emulator)
        let ann = try accounts.signUp()
        let linked = try accounts.call(
            .signInWithPhoneNumber, fields(send(accounts), ["idToken": .text("shown")]),
            token: ann.token)
        #expect(linked.fields["localId"] == .text(ann.localID))
        #expect(linked.fields["isNewUser"] == .bool(false))
        #expect(accounts.refusal(.lookup, token: ann.token) == nil, "adding ends nothing")
        // The number belongs to another account, so the call returns a temporary proof instead of a
        // session.
        let bea = try accounts.signUp("bea@example.com")
        let taken = try accounts.call(
            .signInWithPhoneNumber, fields(send(accounts), ["idToken": .text("shown")]),
            token: bea.token)
        #expect(taken.claims == nil)
        let proof: [String: JSONTree] = [
            "temporaryProof": taken.fields["temporaryProof"] ?? .null,
            "phoneNumber": .text(Self.number),
        ]
        #expect(
            accounts.refusal(
                .signInWithPhoneNumber, proof.merging(["idToken": .text("shown")]) { $1 },
                token: bea.token) == .phoneNumberExists)
        let session = try accounts.call(.signInWithPhoneNumber, proof)
        #expect(session.fields["localId"] == .text(ann.localID))
        var other = proof
        other["phoneNumber"] = .text("+15550101")
        #expect(
            word(accounts.refusal(.signInWithPhoneNumber, other)) == "INVALID_TEMPORARY_PROOF")
        let listed = try accounts.call(.listVerificationCodes, admin: true)
        #expect(listed.fields["verificationCodes"].elements.isEmpty, "a proof is no code")
    }

    @Test func `a new number in an old one's place ends the other sessions`() throws {
        let accounts = try TestAccounts(.emulator)
        let first = TestSession(try signIn(accounts))
        accounts.seconds += 1
        let reply = try accounts.call(.sendVerificationCode, ["phoneNumber": .text("+15550101")])
        let codes = try accounts.call(.listVerificationCodes, admin: true)
        let code = codes.fields["verificationCodes"].elements.last?.fields?["code"] ?? .null
        let moved = TestSession(
            try accounts.call(
                .signInWithPhoneNumber,
                [
                    "sessionInfo": reply.fields["sessionInfo"] ?? .null, "code": code,
                    "idToken": .text("shown"),
                ], token: first.token))
        #expect(accounts.refusal(.lookup, token: moved.token) == nil)
        #expect(accounts.refusal(.lookup, token: first.token) == .tokenExpired)
    }

    @Test func `an account is not made where one is to be shown again, nor by a disabled one`()
        throws
    {
        let accounts = try TestAccounts(.emulator)
        let again = fields(try send(accounts), ["operation": .text("REAUTH")])
        #expect(accounts.refusal(.signInWithPhoneNumber, again) == .userNotFound)
        let session = TestSession(try signIn(accounts))
        _ = try accounts.call(
            .update, ["localId": .text(session.localID), "disableUser": .bool(true)], admin: true)
        #expect(
            accounts.refusal(.signInWithPhoneNumber, fields(try send(accounts))) == .userDisabled)
    }

    @Test func `a project holds the newest codes of a number`() throws {
        let accounts = try TestAccounts(.emulator)
        for _ in 0..<12 { _ = try send(accounts) }
        let listed = try accounts.call(.listVerificationCodes, admin: true)
        #expect(
            listed.fields["verificationCodes"].elements.count == PhoneCodeTable.maxPerNumber)
    }
}
