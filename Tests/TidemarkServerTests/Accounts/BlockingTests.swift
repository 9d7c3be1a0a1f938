import Testing

@testable import TidemarkServer

struct `Blocking functions` {
    private let person: [String: JSONTree] = [
        "email": .text("ann@example.com"), "password": .text("secret-1"),
    ]

    private func accounts(
        _ moments: [BlockingMoment] = BlockingMoment.allCases
    ) throws -> TestAccounts {
        let accounts = try TestAccounts()
        try register(moments, accounts)
        return accounts
    }

    private func register(_ moments: [BlockingMoment], _ accounts: TestAccounts) throws {
        let triggers = moments.map {
            ($0.rawValue, JSONTree.object(["functionUri": .text("http://localhost/\($0)")]))
        }
        _ = try accounts.call(
            .updateConfig,
            [
                "blockingFunctions": .object([
                    "triggers": .object(Dictionary(uniqueKeysWithValues: triggers))
                ])
            ], admin: true)
    }

    private func answer(
        _ reply: AccountReply, _ changes: [String: JSONTree]
    ) throws -> BlockingAnswer {
        var record = changes
        record["updateMask"] = .text(changes.keys.joined(separator: ","))
        return try #require(reply.question).answer(["userRecord": .object(record)])
    }

    private func count(_ accounts: TestAccounts) throws -> Int {
        try accounts.call(.batchGet, admin: true).fields["users"].elements.count
    }

    @Test func `are asked before an account is created and before it is signed in`() throws {
        let accounts = try accounts()
        let first = try accounts.call(.signUp, person)
        let question = try #require(first.question)
        #expect(question.moment == .beforeCreate && question.url == "http://localhost/beforeCreate")
        #expect(first.claims == nil && first.fields.isEmpty)
        #expect(try count(accounts) == 0)

        let created = try answer(
            first, ["displayName": .text("Ann"), "emailVerified": .bool(true)])
        let second = try accounts.call(.signUp, person) { $0.answers = [created] }
        #expect(try #require(second.question).moment == .beforeSignIn)
        #expect(second.question?.claims["sub"] == question.claims["sub"])
        #expect(second.question?.claims["user_record"]?.fields?["display_name"] == .text("Ann"))
        #expect(try count(accounts) == 0, "nothing is stored before the last answer")

        let allowed = try answer(second, ["sessionClaims": .object(["visit": .integer(3)])])
        let third = try accounts.call(.signUp, person) { $0.answers = [created, allowed] }
        #expect(third.question == nil && third.claims?["visit"] == .integer(3))
        #expect(third.claims?["sub"] == question.claims["sub"])
        #expect(third.claims?["email_verified"] == .bool(true))
        #expect(third.claims?["name"] == .text("Ann"))
        #expect(try count(accounts) == 1)
    }

    @Test func `decide on the accounts of the moment, not on those of the question`() throws {
        let accounts = try accounts([.beforeCreate])
        let late = try answer(try accounts.call(.signUp, person), [:])
        let early = try answer(try accounts.call(.signUp, person), [:])
        #expect(try accounts.call(.signUp, person) { $0.answers = [early] }.claims != nil)
        let refusal = accounts.refusal(.signUp, person) { $0.answers = [late] }
        #expect(refusal == .emailExists)
        #expect(try count(accounts) == 1)
    }

    @Test func `about one account do not answer for another`() throws {
        let accounts = try accounts([])
        var other = person
        other["email"] = .text("bob@example.com")
        for fields in [person, other] { _ = try accounts.call(.signUp, fields) }
        try register([.beforeSignIn], accounts)
        let ann = try answer(try accounts.call(.signInWithPassword, person), [:])
        #expect(try accounts.call(.signInWithPassword, person) { $0.answers = [ann] }.claims != nil)
        let asked = try accounts.call(.signInWithPassword, other) { $0.answers = [ann] }
        #expect(asked.question?.moment == .beforeSignIn && asked.claims == nil)
    }

    @Test func `that disable an account keep the account and end the sign-in`() throws {
        let accounts = try accounts([.beforeSignIn])
        let answer = try answer(try accounts.call(.signUp, person), ["disabled": .bool(true)])
        #expect(accounts.refusal(.signUp, person) { $0.answers = [answer] } == .userDisabled)
        let users = try accounts.call(.batchGet, admin: true).fields["users"].elements
        #expect(users.map { $0.fields?["disabled"] } == [.bool(true)])
        #expect(accounts.signInRefusal("ann@example.com", "secret-1") == .userDisabled)
    }

    @Test(arguments: [
        ("displayName", JSONTree.integer(1)), ("disabled", .text("yes")),
        ("customClaims", .text("admin")), ("customClaims", .object(["sub": .text("x")])),
        ("customClaims", .object(["long": .text(String(repeating: "x", count: 1_000))])),
        ("sessionClaims", .object(["a": .integer(1)])),
    ])
    func `cannot set invalid values`(name: String, value: JSONTree) throws {
        let accounts = try accounts()
        let answer = try answer(try accounts.call(.signUp, person), [name: value])
        let refusal = accounts.refusal(.signUp, person) { $0.answers = [answer] }
        #expect(refusal?.message.hasPrefix("BLOCKING_FUNCTION_ERROR_RESPONSE : ((") == true)
        #expect(try count(accounts) == 0)
    }

    @Test func `must name the fields that they change`() throws {
        let question = try #require(try accounts().call(.signUp, person).question)
        #expect(throws: AccountRefusal.self) {
            try question.answer(["userRecord": .object(["displayName": .text("Ann")])])
        }
        #expect(try question.answer([:]).changes.isEmpty)
    }

    @Test func `are not asked by anonymous users, custom tokens, and administrators`() throws {
        let accounts = try accounts()
        #expect(try accounts.call(.signUp).claims != nil)
        let custom = CustomTokenFacts(localID: "made", claims: [:])
        #expect(try accounts.call(.signInWithCustomToken) { $0.custom = custom }.claims != nil)
        #expect(try accounts.call(.create, person, admin: true).question == nil)
        let other = person.merging(["email": .text("bob@example.com")]) { $1 }
        #expect(try accounts.call(.signUp, other, admin: true).claims != nil)
    }

    @Test func `leave the configuration with their triggers`() throws {
        let accounts = try accounts([.beforeCreate])
        let shown = try accounts.call(.getConfig, admin: true).fields["blockingFunctions"]?.fields
        #expect(
            shown?["triggers"]
                == .object([
                    "beforeCreate": .object(["functionUri": .text("http://localhost/beforeCreate")])
                ]))
        _ = try accounts.call(
            .updateConfig, ["blockingFunctions": .object(["triggers": .object([:])])], admin: true)
        #expect(try accounts.call(.getConfig, admin: true).fields["blockingFunctions"] == nil)
        #expect(try accounts.call(.signUp, person).claims != nil)
    }
}
