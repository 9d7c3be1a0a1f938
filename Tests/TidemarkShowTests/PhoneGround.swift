import ExampleKit
import Foundation
import Testing
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

/// A local server with accounts, under the rules of the app, and a phone's folder, for one test. What
/// the app does is allowed, all of it.
struct PhoneGround {
    let local: LocalFirestore
    let accounts: LocalAccounts
    let socket: LocalSocket
    let folder: String
    var town: Town

    static func play(_ example: Example, _ body: (PhoneGround) async throws -> Void) async throws {
        let root = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let files = root.appending(path: "Examples/\(example.title)")
        let indexes = files.appending(path: "firestore.indexes.json")
        let rules = files.appending(path: "firestore.rules")
        var configuration = FirestoreServer.Configuration()
        configuration.indexes = IndexSettings(
            try IndexConfiguration(json: try Data(contentsOf: indexes)))
        let local = try LocalFirestore.start(
            rules: try String(contentsOf: rules, encoding: .utf8), projectID: "phones",
            now: Timestamp(), configuration: configuration)
        let accounts = try await LocalAccounts.start(beside: local)
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("phone-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var user = PhoneUser(id: "ada", name: "Ada", email: "ada@example.test")
        if example.hasAccount {
            let desk = Accounts(
                HTTPAccountsTransport(.local(accounts.host)),
                store: try FileCredentialStore(folder: folder + "/desk"), installation: "desk")
            await desk.load()
            user.id = try await desk.signUp(email: user.email, password: user.password).text
        }
        let town = Town(
            firestore: try local.firestore(label: "town", token: "owner"), user: user,
            dayStart: local.now)
        try await example.seed(town)
        let ground = PhoneGround(
            local: local, accounts: accounts, socket: try await local.serve(), folder: folder,
            town: town)
        try await body(ground)
        // Where the diagnosis reads there is nothing: it looks whether an answer comes, also of no.
        #expect(local.rules.refusals.filter { !$0.hasPrefix("get tidemark/doctor:") } == [])
        await accounts.stop()
        await local.stop()
    }

    /// - Parameters:
    ///   - isOnline: Whether anybody answers at its addresses.
    ///   - pictures: What stands before the name of a picture.
    func phone<App: PhoneApp>(
        _ type: App.Type, _ name: String = "phone", isOnline: Bool = true, pictures: String? = nil
    ) throws -> App {
        var settings = PhoneSettings(
            folder: "\(folder)/\(name)", project: "phones",
            firestore: isOnline ? socket.host : "127.0.0.1:1",
            accounts: isOnline ? accounts.host : "127.0.0.1:1", user: town.user, label: name)
        settings.pictures = pictures
        var environment = PhoneEnvironment(settings)
        // A figure is counted once a launch, and how long a machine takes is no matter of these tests.
        if isOnline { environment.patience = .seconds(600) }
        return try App(environment)
    }
}

extension PhoneApp {
    /// The next screen of which this holds.
    func screen(
        _ what: String, where holds: (Screen) -> Bool
    ) async throws -> Screen {
        for await screen in screens where holds(screen) { return screen }
        throw NotSeen(what)
    }
}

private struct NotSeen: Error {
    let what: String
    init(_ what: String) { self.what = what }
}
