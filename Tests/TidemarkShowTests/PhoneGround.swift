import ExampleKit
import ExampleTesting
import Foundation
import HTTPTesting
import Testing
import Tidemark
import TidemarkApp
import TidemarkHTTP
import TidemarkRules
import TidemarkServer
import TidemarkTesting

/// A local server with accounts and the rules of the app, and a folder for phones, for one test.
/// The rules must allow every request of the app.
struct PhoneGround: Sendable {
    let local: LocalFirestore
    let accounts: LocalAccounts
    let socket: LocalSocket
    let folder: String
    var project: PhoneProject

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
        let project = PhoneProject(
            firestore: try local.firestore(label: "project", token: "owner"), user: user,
            dayStart: local.now)
        try await example.seed(project)
        let ground = PhoneGround(
            local: local, accounts: accounts, socket: try await local.serve(), folder: folder,
            project: project)
        try await body(ground)
        // The diagnosis reads a missing document, because any answer shows that the server is
        // there. A refusal is also an answer.
        #expect(local.rules.refusals.filter { !$0.hasPrefix("get tidemark/doctor:") } == [])
        await accounts.stop()
        await local.stop()
    }

    /// Serves a storage port under the app's rules while `body` runs, which receives its address.
    func withStorage(
        _ example: Example,
        _ body: @escaping @Sendable (ObjectsServer, _ address: String) async throws -> Void
    ) async throws {
        let rules = StorageRules(
            local.server, project: local.projectID, errors: .explained, say: { _ in })
        let text = String(
            decoding: try exampleFile("\(example.title)/storage.rules"), as: UTF8.self)
        rules.set(try Ruleset(text, service: .storage))
        let storage = try ObjectsServer(
            dataDirectory: nil, project: local.projectID, gate: nil, rules: rules)
        try await serve(storage) { address, _ in try await body(storage, address) }
        storage.close()
    }

    /// Returns the settings of a phone with this name.
    func settings(
        _ name: String, isOnline: Bool = true, storage: String? = nil
    ) -> PhoneSettings {
        var settings = PhoneSettings(
            folder: "\(folder)/\(name)", project: "phones",
            firestore: isOnline ? socket.host : "127.0.0.1:1",
            accounts: isOnline ? accounts.host : "127.0.0.1:1", user: project.user, label: name)
        settings.storage = storage.map {
            PhoneStorage(bucket: "bucket", address: isOnline ? $0 : "http://127.0.0.1:1")
        }
        return settings
    }

    /// - Parameters:
    ///   - isOnline: True if servers answer at the phone's addresses.
    ///   - pictures: The part of a picture's address before its name.
    ///   - storage: The address of Storage; nil if the phone has none.
    ///   - photos: The folder of the user's photos.
    ///   - token: The user's token, in an app without its own accounts.
    func phone<App: PhoneApp>(
        _ type: App.Type, _ name: String = "phone", isOnline: Bool = true, pictures: String? = nil,
        storage: String? = nil, photos: URL? = nil, token: String? = nil
    ) throws -> App {
        var settings = settings(name, isOnline: isOnline, storage: storage)
        settings.pictures = pictures
        settings.photos = photos?.path
        settings.token = token
        var environment = PhoneEnvironment(settings)
        // The server counts a figure only once per launch. The screen waits long for the figure,
        // because these tests do not measure the speed of the machine.
        if isOnline { environment.patience = .seconds(600) }
        return try App(environment)
    }
}

extension PhoneApp {
    /// Returns the next screen for which `holds` is true.
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
