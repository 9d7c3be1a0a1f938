import Testing

@testable import TidemarkServer

/// The server refuses an empty text as invalid, and an absent field as missing. Only an empty
/// password in `signInWithPassword` or `signUp` is refused as missing.
struct EmptyTextTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let method: AccountMethod
        let fields: [String: String]
        let expected: String
        var isAdmin = false
        var hasToken = false

        var testDescription: String { "\(method) \(fields)" }
    }

    private static let signIn: [Case] = ["", " ", "x", "@", "a@", "\u{A0}"].map { email in
        Case(
            method: .signInWithPassword, fields: ["email": email, "password": "secret-1"],
            expected: "INVALID_EMAIL")
    }

    private static let cases: [Case] =
        signIn + [
            Case(
                method: .signInWithPassword, fields: ["password": "secret-1"],
                expected: "MISSING_EMAIL"),
            Case(
                method: .signInWithPassword, fields: ["email": "ann@example.com", "password": ""],
                expected: "MISSING_PASSWORD"),
            Case(
                method: .signInWithPassword, fields: ["email": "", "password": ""],
                expected: "INVALID_EMAIL"),
            Case(method: .signUp, fields: ["email": ""], expected: "INVALID_EMAIL"),
            Case(
                method: .signUp, fields: ["email": "", "password": ""], expected: "INVALID_EMAIL"),
            Case(
                method: .signUp, fields: ["email": "", "password": "secret-1"],
                expected: "INVALID_EMAIL"),
            Case(method: .signUp, fields: ["password": ""], expected: "MISSING_EMAIL"),
            Case(method: .signUp, fields: ["password": "secret-1"], expected: "MISSING_EMAIL"),
            Case(method: .signUp, fields: ["email": "b@c.d"], expected: "MISSING_PASSWORD"),
            Case(
                method: .signUp, fields: ["email": "b@c.d", "password": ""],
                expected: "MISSING_PASSWORD"),
            Case(
                method: .signUp, fields: ["email": "x", "password": "123"],
                expected: "INVALID_EMAIL"),
            Case(
                method: .signUp, fields: ["idToken": "shown", "email": "", "password": "secret-1"],
                expected: "INVALID_EMAIL", hasToken: true),
            Case(
                method: .signUp, fields: ["idToken": "shown", "email": "b@c.d"],
                expected: "MISSING_PASSWORD", hasToken: true),
            Case(
                method: .signUp, fields: ["idToken": "shown"], expected: "MISSING_EMAIL",
                hasToken: true),
            Case(method: .create, fields: ["email": ""], expected: "INVALID_EMAIL", isAdmin: true),
            Case(
                method: .create, fields: ["password": ""], expected: "WEAK_PASSWORD",
                isAdmin: true),
            Case(
                method: .create, fields: ["phoneNumber": ""], expected: "INVALID_PHONE_NUMBER",
                isAdmin: true),
            Case(
                method: .update, fields: ["idToken": "shown", "email": ""],
                expected: "INVALID_EMAIL", hasToken: true),
            Case(
                method: .update, fields: ["idToken": "shown", "password": ""],
                expected: "WEAK_PASSWORD", hasToken: true),
            Case(
                method: .update, fields: ["localId": "ID", "email": ""],
                expected: "INVALID_EMAIL", isAdmin: true),
            Case(
                method: .update, fields: ["localId": "ID", "phoneNumber": ""],
                expected: "INVALID_PHONE_NUMBER", isAdmin: true),
            Case(
                method: .sendOobCode, fields: ["requestType": "PASSWORD_RESET", "email": ""],
                expected: "INVALID_EMAIL"),
            Case(
                method: .sendOobCode, fields: ["requestType": "PASSWORD_RESET"],
                expected: "MISSING_EMAIL"),
            Case(
                method: .sendOobCode, fields: ["requestType": "EMAIL_SIGNIN", "email": " "],
                expected: "INVALID_EMAIL"),
            Case(
                method: .sendOobCode,
                fields: [
                    "requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": "shown", "newEmail": "",
                ], expected: "INVALID_NEW_EMAIL", hasToken: true),
            Case(
                method: .sendOobCode,
                fields: ["requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": "shown"],
                expected: "MISSING_NEW_EMAIL", hasToken: true),
            Case(
                method: .signInWithEmailLink, fields: ["email": "", "oobCode": "x"],
                expected: "INVALID_EMAIL"),
            Case(
                method: .signInWithEmailLink, fields: ["oobCode": "x"], expected: "MISSING_EMAIL"),
            Case(
                method: .resetPassword, fields: ["oobCode": "x", "newPassword": ""],
                expected: "WEAK_PASSWORD"),
            Case(
                method: .createAuthUri, fields: ["identifier": ""], expected: "INVALID_IDENTIFIER"),
            Case(method: .createAuthUri, fields: [:], expected: "MISSING_IDENTIFIER"),
            Case(
                method: .sendVerificationCode, fields: ["phoneNumber": ""],
                expected: "INVALID_PHONE_NUMBER"),
        ]

    @Test(arguments: AccountsSettings.Mode.allCases, Self.cases)
    func `each call tells an empty text from a missing one`(
        mode: AccountsSettings.Mode, it: Case
    ) throws {
        let accounts = try TestAccounts(mode)
        let session = try accounts.signUp()
        var fields = it.fields.mapValues(JSONTree.text)
        if it.fields["localId"] == "ID" { fields["localId"] = .text(session.localID) }
        let refusal = accounts.refusal(
            it.method, fields, admin: it.isAdmin, token: it.hasToken ? session.token : nil)
        #expect(refusal?.message.split(separator: " ").first.map(String.init) == it.expected)
        let count = try accounts.call(.query, ["returnUserInfo": .bool(false)], admin: true)
        #expect(count.fields["recordsCount"] == .text("1"), "nothing was made")
    }

    @Test func `what is not there at all makes an anonymous account`() throws {
        let accounts = try TestAccounts()
        let session = TestSession(
            try accounts.call(.signUp, ["email": .null, "displayName": .text("Ann")]))
        #expect(session.token.claims["provider_id"] == .text("anonymous"))
    }

    @Test func `an account of elsewhere may have empty texts for what it has not`() throws {
        let accounts = try TestAccounts()
        let user: JSONTree = .object([
            "localId": .text("ann"), "email": .text(""), "phoneNumber": .text(""),
            "displayName": .text(""), "customAttributes": .text(""),
        ])
        let reply = try accounts.call(.batchCreate, ["users": .list([user])], admin: true)
        #expect(reply.fields["error"] == nil)
        let found = try accounts.call(.lookup, ["localId": .list([.text("ann")])], admin: true)
        #expect(found.fields["users"].elements.first?.fields?["email"] == nil)
    }
}
