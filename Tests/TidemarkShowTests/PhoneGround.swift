import ExampleKit
import Foundation
import Tidemark
import TidemarkApp
import TidemarkServer
import TidemarkTesting

/// A local server with accounts, and a phone's folder, for one test.
struct PhoneGround {
    let local: LocalFirestore
    let accounts: LocalAccounts
    let socket: LocalSocket
    let folder: String
    var town: Town

    static func play(_ example: Example, _ body: (PhoneGround) async throws -> Void) async throws {
        let root = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let indexes = root.appending(path: "Examples/\(example.title)/firestore.indexes.json")
        var configuration = FirestoreServer.Configuration()
        configuration.indexes = IndexSettings(
            try IndexConfiguration(json: try Data(contentsOf: indexes)))
        let local = try LocalFirestore.start(
            projectID: "phones", now: Timestamp(), configuration: configuration)
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
            firestore: try local.firestore(label: "town"), user: user, dayStart: local.now)
        try await example.seed(town)
        let ground = PhoneGround(
            local: local, accounts: accounts, socket: try await local.serve(), folder: folder,
            town: town)
        try await body(ground)
        await accounts.stop()
        await local.stop()
    }

    /// - Parameter isOnline: Whether anybody answers at its addresses.
    func phone<App: PhoneApp>(
        _ type: App.Type, _ name: String = "phone", isOnline: Bool = true
    ) throws -> App {
        try App(
            PhoneEnvironment(
                PhoneSettings(
                    folder: "\(folder)/\(name)", project: "phones",
                    firestore: isOnline ? socket.host : "127.0.0.1:1",
                    accounts: isOnline ? accounts.host : "127.0.0.1:1", user: town.user,
                    label: name)))
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
