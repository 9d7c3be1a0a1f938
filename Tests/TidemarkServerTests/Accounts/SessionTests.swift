import Foundation
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkServer

/// Tokens are valid for a limited time, and some events end them earlier.
struct SessionTests {
    @Test func `a token runs out after an hour, where tokens are signed`() throws {
        let accounts = try TestAccounts()
        let session = try accounts.signUp()
        accounts.seconds += 3_599
        #expect(accounts.refusal(.lookup, token: session.token) == nil)
        accounts.seconds += 1
        #expect(accounts.refusal(.lookup, token: session.token) == .tokenExpired)
        #expect(throws: AccountRefusal.tokenExpired) { try accounts.core.check(session.token) }
        let renewed = try accounts.refresh(session.refreshToken)
        #expect(accounts.refusal(.lookup, token: renewed.token) == nil)
        #expect(renewed.token.authTime == session.token.authTime)
    }

    @Test func `an emulator's tokens do not run out`() throws {
        let accounts = try TestAccounts(.emulator)
        let session = try accounts.signUp()
        accounts.seconds += 1_000_000
        #expect(accounts.refusal(.lookup, token: session.token) == nil)
    }

    @Test func `a refresh token is good once, and the one before until the newest was shown`()
        throws
    {
        let accounts = try TestAccounts()
        let first = try accounts.signUp().refreshToken
        // The client did not receive the first two answers.
        _ = try accounts.refresh(first)
        _ = try accounts.refresh(first)
        let second = try accounts.refresh(first).refreshToken
        let third = try accounts.refresh(second).refreshToken
        #expect(accounts.refreshRefusal(first) == .invalidRefreshToken)
        #expect(accounts.refreshRefusal(third) == .invalidRefreshToken, "it ended for both")
    }

    @Test func `a refused lost answer ends the session that the thief went on with`() throws {
        let accounts = try TestAccounts()
        let stolen = try accounts.signUp().refreshToken
        let thiefs = try accounts.refresh(stolen).refreshToken
        // The holder did not receive that answer and refreshes too, so the thief's token is no
        // longer the newest.
        _ = try accounts.refresh(stolen)
        #expect(accounts.refreshRefusal(thiefs) == .invalidRefreshToken)
        #expect(accounts.refreshRefusal(stolen) == .invalidRefreshToken)
    }

    @Test func `one session's end is not another's`() throws {
        let accounts = try TestAccounts()
        let one = try accounts.signUp()
        let two = try accounts.signIn()
        let next = try accounts.refresh(one.refreshToken)
        _ = try accounts.refresh(next.refreshToken)
        #expect(accounts.refreshRefusal(one.refreshToken) == .invalidRefreshToken)
        #expect(accounts.refreshRefusal(two.refreshToken) == nil)
    }

    @Test func `an account holds a hundred sessions, those used last`() throws {
        let accounts = try TestAccounts()
        let first = try accounts.signUp()
        accounts.seconds += 1
        for _ in 0..<(SessionTable.maxPerAccount - 1) {
            _ = try accounts.signIn()
            accounts.seconds += 61
        }
        #expect(accounts.refreshRefusal(first.refreshToken) == nil)
        accounts.seconds += 1
        for _ in 0..<SessionTable.maxPerAccount {
            _ = try accounts.signIn()
            accounts.seconds += 61
        }
        #expect(accounts.refreshRefusal(first.refreshToken) == .invalidRefreshToken)
    }

    @Test func `revoking ends tokens of before, and for good`() throws {
        let accounts = try TestAccounts()
        let session = try accounts.signUp()
        accounts.seconds += 10
        let id: JSONTree = .text(session.localID)
        _ = try accounts.call(
            .update, ["localId": id, "validSince": .integer(accounts.seconds)], admin: true)
        #expect(accounts.refusal(.lookup, token: session.token) == .tokenExpired)
        #expect(accounts.refreshRefusal(session.refreshToken) == .tokenExpired)
        _ = try accounts.call(.update, ["localId": id, "validSince": .integer(0)], admin: true)
        #expect(accounts.refreshRefusal(session.refreshToken) == .tokenExpired)
        #expect(accounts.refusal(.lookup, token: try accounts.signIn().token) == nil)
    }

    @Test func `a change of the password ends tokens from earlier in the same second`() throws {
        let accounts = try TestAccounts()
        let session = try accounts.signUp()
        let other = try accounts.signIn()
        // Another sign-in in the same second ends no session.
        #expect(accounts.refusal(.lookup, token: session.token) == nil)
        let changed = TestSession(
            try accounts.call(.update, ["password": .text("secret-2")], token: session.token))
        for token in [session.token, other.token] {
            #expect(accounts.refusal(.lookup, token: token) == .tokenExpired)
            #expect(throws: AccountRefusal.tokenExpired) { try accounts.core.check(token) }
        }
        #expect(accounts.refreshRefusal(other.refreshToken) == .tokenExpired)
        #expect(accounts.refusal(.lookup, token: changed.token) == nil)
        let later = try accounts.signIn("ann@example.com", "secret-2")
        #expect(accounts.refusal(.lookup, token: later.token) == nil)
        #expect(accounts.refusal(.lookup, token: changed.token) == nil)
    }

    @Test func `revoking ends tokens from earlier in the same second`() throws {
        let accounts = try TestAccounts()
        let session = try accounts.signUp()
        let fields: [String: JSONTree] = [
            "localId": .text(session.localID), "validSince": .integer(accounts.seconds),
        ]
        _ = try accounts.call(.update, fields, admin: true)
        #expect(accounts.refusal(.lookup, token: session.token) == .tokenExpired)
        #expect(accounts.refusal(.lookup, token: try accounts.signIn().token) == nil)
    }

    @Test func `an account that is made again takes no token of the one before it`() throws {
        let accounts = try TestAccounts()
        let old = try accounts.signUp()
        let id: JSONTree = .text(old.localID)
        _ = try accounts.call(.delete, ["localId": id], admin: true)
        let account: [String: JSONTree] = [
            "localId": id, "email": .text("bob@example.com"), "password": .text("secret-1"),
        ]
        _ = try accounts.call(.create, account, admin: true)
        #expect(accounts.refusal(.lookup, token: old.token) == .tokenExpired)
        #expect(
            accounts.refusal(.lookup, token: try accounts.signIn("bob@example.com").token) == nil)
    }

    @Test func `a token that is signed after its account's tokens were voided is void`() throws {
        var voided = VoidedTokens()
        let accounts = try TestAccounts()
        let token = try accounts.signUp().token
        let account = ChangedAccounts.Account(
            pool: AccountPool(project: "test"), localID: token.localID)
        voided.add([account: .init(second: token.issuedAt, mark: 7)])
        voided.noteIssue(of: token, mark: 6)
        #expect(voided.contain(token))
        var later = token
        later.signature = "another"
        voided.noteIssue(of: later, mark: 7)
        #expect(!voided.contain(later))
    }

    @Test func `voided tokens are remembered for an hour, and are few`() throws {
        var voided = VoidedTokens()
        let accounts = try TestAccounts()
        let first = try accounts.signUp().token
        for number in 0..<6_000 {
            var token = first
            token.signature = "\(number)"
            token.issuedAt += Int64(number)
            voided.noteIssue(of: token, mark: Int64(2 * number))
            let account = ChangedAccounts.Account(
                pool: AccountPool(project: "test"), localID: token.localID)
            voided.add([account: .init(second: token.issuedAt, mark: Int64(2 * number + 1))])
            #expect(voided.contain(token))
        }
        #expect(voided.count < 4_000)
        var token = first
        token.signature = "0"
        #expect(!voided.contain(token), "it has run out long ago")
    }

    @Test func `in an emulator an earlier time revives them, as in production`() throws {
        let accounts = try TestAccounts(.emulator)
        let session = try accounts.signUp()
        accounts.seconds += 10
        let id: JSONTree = .text(session.localID)
        _ = try accounts.call(
            .update, ["localId": id, "validSince": .integer(accounts.seconds)], admin: true)
        #expect(accounts.refreshRefusal(session.refreshToken) == .tokenExpired)
        _ = try accounts.call(.update, ["localId": id, "validSince": .integer(0)], admin: true)
        #expect(accounts.refreshRefusal(session.refreshToken) == nil)
    }

    @Test func `what an account cannot undo asks for a recent sign-in`() throws {
        let accounts = try TestAccounts()
        let session = try accounts.signUp()
        accounts.seconds += 301
        let old = AccountRefusal("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
        #expect(accounts.refusal(.delete, token: session.token) == old)
        for fields in [["password": JSONTree.text("secret-2")], ["email": .text("b@c.d")]] {
            #expect(accounts.refusal(.update, fields, token: session.token) == old)
        }
        let upgrade: [String: JSONTree] = [
            "email": .text("b@c.d"), "password": .text("secret-2"), "idToken": .text("shown"),
        ]
        #expect(accounts.refusal(.signUp, upgrade, token: session.token) == old)
        #expect(
            accounts.refusal(.update, ["displayName": .text("Ann")], token: session.token) == nil)
        let renewed = try accounts.refresh(session.refreshToken)
        #expect(accounts.refusal(.delete, token: renewed.token) == old, "a refresh is no sign-in")
        #expect(accounts.refusal(.delete, token: try accounts.signIn().token) == nil)
    }

    @Test func `an anonymous account may get a password however long ago it was made`() throws {
        let accounts = try TestAccounts()
        let session = TestSession(try accounts.call(.signUp))
        accounts.seconds += 3_000
        let upgrade: [String: JSONTree] = [
            "email": .text("b@c.d"), "password": .text("secret-2"), "idToken": .text("shown"),
        ]
        #expect(accounts.refusal(.signUp, upgrade, token: session.token) == nil)
        #expect(try accounts.signIn("b@c.d", "secret-2").localID == session.localID)
        #expect(accounts.refreshRefusal(session.refreshToken) == .tokenExpired)
    }

    @Test func `a session of an account that is gone is no other account's`() throws {
        let accounts = try TestAccounts()
        let session = try accounts.signUp()
        _ = try accounts.call(.delete, token: session.token)
        let again = try accounts.signUp()
        #expect(again.localID != session.localID)
        #expect(accounts.refreshRefusal(session.refreshToken) == .invalidRefreshToken)
        #expect(accounts.refusal(.lookup, token: session.token) == .userNotFound)
    }

    @Test func `a password's key that was made for the one before is good for nothing`() throws {
        let accounts = try TestAccounts()
        let session = try accounts.signUp()
        let call = AccountCall(
            .signInWithPassword, project: "test",
            fields: AccountFields([
                "email": .text("ann@example.com"), "password": .text("secret-1"),
            ]))
        let work = try #require(try accounts.core.prepare(call))
        _ = try accounts.call(.update, ["password": .text("secret-2")], token: session.token)
        #expect(throws: AccountRefusal.self) {
            try accounts.core.perform(call, TestAccounts.derive(work))
        }
    }

    @Test func `what was answered is there when the file is opened again`() throws {
        let directory = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let before = try TestAccounts(directory: directory)
        let session = try before.signUp()
        before.core.close()
        let after = try TestAccounts(directory: directory)
        #expect(after.refusal(.lookup, token: session.token) == nil)
        #expect(try after.refresh(session.refreshToken).localID == session.localID)
        #expect(try after.signIn().localID == session.localID)
    }

    @Test func `a file that was made before there were phones is brought up to date`() throws {
        let directory = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        let old = try DocumentStore(
            .file(directory + "/tidemark-accounts.sqlite"),
            migrations: Array(AccountsSchema.migrations.prefix(1)))
        try old.write(.disk) { transaction in
            try transaction.execute(
                """
                INSERT INTO account (project, localID, isEmailVerified, isDisabled, isCustom,
                usesEmailLink, createdAt, validSince) VALUES ('test', 'ann', 0, 0, 1, 0, 1, 1)
                """, [])
            try transaction.execute(
                """
                INSERT INTO session (id, account, secret, previous, provider, claims, createdAt,
                usedAt) VALUES (?, 1, ?, ?, 'custom', '{}', 1, 1)
                """,
                [
                    .blob(Array(repeating: 1, count: 16)),
                    .blob(TestAccounts.digest(Array(repeating: 2, count: 32))), .blob([]),
                ])
        }
        try old.close()
        let accounts = try TestAccounts(directory: directory)
        let token = RefreshToken(
            Array(repeating: 1, count: 16), Array(repeating: 2, count: 32))
        #expect(try accounts.refresh(token.text).localID == "ann")
        #expect(
            accounts.refusal(.sendVerificationCode, ["phoneNumber": .text("+15550100")]) == nil)
    }
}
