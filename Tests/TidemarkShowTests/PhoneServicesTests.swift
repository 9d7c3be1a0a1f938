import ExampleKit
import Foundation
import Testing
import TestSupport
import Tidemark
import TidemarkApp
import TidemarkTesting

@testable import StampsCore

/// The services of the apps that Xcode runs.
@Suite(.timeLimit(.minutes(2))) struct `The services of an app on a phone` {
    /// Returns a bundle with these files.
    private func bundle(_ files: [String: Data] = [:]) throws -> (bundle: Bundle, folder: URL) {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-bundle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, data) in files { try data.write(to: folder.appending(path: name)) }
        return (try #require(Bundle(path: folder.path)), folder)
    }

    private func endpoint(of settings: StackSettings) -> AccountsEndpoint? {
        guard case .accounts(let endpoint) = settings.identity else { return nil }
        return endpoint
    }

    @Test func `are the project's, with its file, and local without it`() throws {
        let fields = ["PROJECT_ID": "my-app", "API_KEY": "k", "GOOGLE_APP_ID": "1:2:ios:3"]
        let file = try PropertyListSerialization.data(
            fromPropertyList: fields, format: .xml, options: 0)
        let (real, first) = try bundle(["GoogleService-Info.plist": file])
        defer { try? FileManager.default.removeItem(at: first) }
        let settings = try PhoneServices(in: real, environment: [:]).stackSettings(folder: "/no")
        #expect(settings.projectID == "my-app" && settings.firestore.isSSLEnabled)
        #expect(endpoint(of: settings) == .cloud(key: "k", bundleID: Bundle.main.bundleIdentifier))
        let files = try PhoneServices(in: real, environment: [:]).storage(environment: [:])
        #expect(files.bucket == "my-app.firebasestorage.app" && files.address == nil)

        let (empty, second) = try bundle()
        defer { try? FileManager.default.removeItem(at: second) }
        #expect(
            try PhoneServices(in: empty, environment: [:])
                == .local(firestore: "127.0.0.1:8080", accounts: "127.0.0.1:9099"))
        let other = try PhoneServices(
            in: empty,
            environment: [
                "FIRESTORE_EMULATOR_HOST": "mac.local:1",
                "FIREBASE_AUTH_EMULATOR_HOST": "mac.local:2",
            ])
        let local = other.stackSettings(folder: "/no")
        #expect(local.firestore.host == "mac.local:1" && !local.firestore.isSSLEnabled)
        #expect(endpoint(of: local) == .local("mac.local:2"))
        #expect(other.storage(environment: [:]).address == "http://127.0.0.1:9199")
        let address = other.storage(environment: ["FIREBASE_STORAGE_EMULATOR_HOST": "mac.local:3"])
        #expect(address.address == "http://mac.local:3")

        let (broken, third) = try bundle(["GoogleService-Info.plist": Data("{".utf8)])
        defer { try? FileManager.default.removeItem(at: third) }
        #expect(throws: FirestoreError.self, "an app must not talk to another project") {
            try PhoneServices(in: broken, environment: [:])
        }
    }

    @Test func `sign a user up, and Stamps writes a profile`() async throws {
        try await PhoneGround.play(.stamps) { ground in
            let services = PhoneServices.local(
                firestore: ground.socket.host, accounts: ground.accounts.host)
            var settings = StampsAfter.settings(services)
            settings.folder = ground.folder + "/device"
            settings.projectID = ground.local.projectID
            settings.signals = .none
            let stack = try TidemarkStack(settings)
            let app = try StampsAfter(
                PhoneEnvironment(services.phoneSettings(folder: settings.folder)), stack)
            let form = await SignInModel(stack)
            try await until("nobody is signed in") { await form.state == .signedOut }
            await form.signIn(email: "new@example.test", password: "correct horse")
            #expect(await form.state == .signedOut)
            #expect(await form.problem != nil, "there is no such account")
            await form.signUp(email: "new@example.test", password: "correct horse")
            let user = try #require(stack.identity.user)
            #expect(await form.state == .signedIn(user))
            #expect(await form.problem == nil)
            let fresh = try await app.screen("fresh") { $0.state == .fresh && $0.hasContent }
            #expect(try await fresh.documents == Example.stamps.truth(ground.project))
            let profile = ground.project.firestore.document("users/\(user.text)")
            try await until("the profile is written") {
                try await profile.getDocument(source: .server).get("totalStamps") as? Int == 0
            }
            await app.close()
        }
    }
}
