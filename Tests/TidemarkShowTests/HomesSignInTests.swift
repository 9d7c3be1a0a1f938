import ExampleKit
import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkTesting

@testable import HomesCore
@testable import TidemarkApp

/// Tests the app with Apple's own sheet, whose answers the test makes.
@Suite(.timeLimit(.minutes(2))) struct `Homes with Apple's sheet` {
    private func has(_ id: String) -> (Screen) -> Bool {
        { screen in screen.controls.contains { $0.id == id } }
    }

    /// Returns an answer of Apple, as `AppleSignIn` reads it.
    private func identity() throws -> AppleIdentity {
        let nonce = AppleNonce()
        let claims = #"{"sub":"001.ada","nonce":"\#(nonce.hashed)","email":"ada@example.test"}"#
        func encoded(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "+", with: "-")
        }
        let token = encoded(#"{"alg":"none"}"#) + "." + encoded(claims) + "."
        let answer = AppleAnswer(
            user: "001.ada", identityToken: Data(token.utf8), authorizationCode: nil,
            givenName: "Ada", familyName: "Lovelace", email: "ada@example.test")
        return try AppleIdentity(answer, nonce)
    }

    private func secrets(_ ground: PhoneGround) throws -> FileCredentialStore {
        try FileCredentialStore(folder: ground.folder + "/secrets", key: nil)
    }

    private func app(
        _ ground: PhoneGround, change: (inout StackSettings) -> Void = { _ in }
    ) throws -> HomesAfter {
        var settings = HomesAfter.settings(
            folder: ground.folder + "/app", projectID: "phones",
            accounts: .local(ground.accounts.host))
        settings.firestore = FirestoreSettings(host: ground.socket.host, isSSLEnabled: false)
        settings.signals = .none
        settings.credentials = try secrets(ground)
        change(&settings)
        return try HomesAfter(settings)
    }

    @Test func `signs up with the answer of the sheet, and signs in again`() async throws {
        try await PhoneGround.play(.homes) { ground in
            let first = try self.app(ground)
            #expect(first.hasAppleSheet)
            _ = try await first.screen("a beginning", where: has("begin"))
            first.signIn(with: try identity())
            let name = try await first.screen("a name", where: has("name"))
            #expect(name.sections[0].rows.first?.trailing == "Ada", "Apple has said it")
            await first.tap("name", "Ada")
            _ = try await first.screen("a home", where: has("home"))
            await first.tap("home", "Elm Street 4")
            _ = try await first.screen("a home") {
                $0.state == .fresh && $0.sections[0].rows[1].trailing == "Elm Street 4"
            }
            await first.close()

            let second = try self.app(ground) { settings in
                settings.firestore.host = "127.0.0.1:1"
                settings.budgets.feeds = .milliseconds(1)
            }
            _ = try await second.screen("a way out", where: has("signInAgain"))
            await second.tap("signInAgain", "")
            _ = try await second.screen("a beginning", where: has("begin"))
            try await until("the session is gone") { try secrets(ground).read(.session) == nil }
            await second.close()

            let third = try self.app(ground)
            _ = try await third.screen("a beginning", where: has("begin"))
            third.signIn(with: try identity())
            let home = try await third.screen("the same home") {
                $0.state == .fresh && $0.sections[0].rows[1].trailing == "Elm Street 4"
            }
            #expect(home.title == "Homes")
            await third.close()
        }
    }

    @Test func `says that Apple did not sign the user in, unless the user cancelled`()
        async throws
    {
        try await PhoneGround.play(.homes) { ground in
            let app = try self.app(ground)
            _ = try await app.screen("a beginning", where: has("begin"))
            app.signInFailed(.cancelled)
            app.signInFailed(.failed("1001"))
            let told = try await app.screen("a reason") {
                if case .failed = $0.state { true } else { false }
            }
            #expect(
                told.state
                    == .failed(
                        reason: "Apple didn't sign you in. Please try again.", wayOut: "begin"))
            await app.close()
        }
    }

    @Test func `offers to sign in again only with a problem, and not on the sign-in screen`()
        throws
    {
        let ada = try #require(UserID("ada"))
        var machine = LaunchMachine()
        var model = HomesModel()
        func hear(_ event: LaunchEvent) {
            _ = machine.step(event)
            model.follow(machine, draft: nil)
        }
        let known = LocalFacts(lastUser: ada, completeProfile: ada)
        for event in [LaunchEvent.start, .localReady(known), .contentShown] { hear(event) }
        hear(.session(.signedIn(ada)))
        #expect(model.actions.isEmpty)
        hear(.timerFired)
        #expect(model.actions.map(\.id) == ["tryAgain", "signInAgain"])
        #expect(model.message == "The server isn't answering. You see what is on this device.")
        hear(.person(.signInAgain))
        #expect(model.place == .signIn && model.actions.isEmpty)
    }
}
