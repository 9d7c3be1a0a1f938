import ExampleKit
import Foundation
import Testing
import Tidemark
import TidemarkServer
import TidemarkTesting

@testable import MessagesCore

/// A server in the process, under the rules of the app, the people around a phone, and phones.
@MainActor final class MessagesWorld {
    let local: LocalFirestore
    let town: MessagesTown
    /// Of what the app waits for; the server and its clients have the other one.
    let clock = ManualClock()
    private let user = PhoneUser(id: "ada", name: "Ada", email: "ada@example.org")
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidemark-messages-\(UUID().uuidString)")

    init() throws {
        local = try LocalFirestore.start(rules: try ExampleFile.rules)
        town = MessagesTown(
            Town(
                firestore: try local.firestore(label: "town", token: "owner"), user: user,
                dayStart: local.now))
    }

    /// A client on the phone's disk; terminate it before the next one.
    func client() throws -> Firestore {
        try local.firestore(as: .user(user.id), label: "phone", cache: .directory(folder.path))
    }

    func app(_ firestore: Firestore) -> MessagesApp {
        var app = MessagesApp(firestore, me: user.id)
        app.clock = clock
        app.now = { [local] in local.now }
        return app
    }

    func phone<App: PhoneApp>(_ app: App.Type, _ firestore: Firestore) throws -> App {
        let settings = PhoneSettings(
            folder: folder.path, project: local.projectID, firestore: "", accounts: "", user: user,
            label: "phone")
        return try App(
            PhoneEnvironment(
                settings, now: { [local] in local.now.dateValue() }, clock: clock,
                firestore: { _ in firestore }))
    }

    func reads() -> Int { local.meter().filter { $0.label == "phone" }.reduce(0) { $0 + $1.reads } }

    func stop() async {
        await local.stop()
        try? FileManager.default.removeItem(at: folder)
    }

    /// - Parameter isRefused: Whether the rules refuse something, as the test wants it.
    static func run(
        isRefused: Bool = false, _ body: (MessagesWorld) async throws -> Void
    ) async throws {
        let world = try MessagesWorld()
        do { try await body(world) } catch {
            await world.stop()
            throw error
        }
        if !isRefused {
            #expect(!world.local.server.judgedRequests().isEmpty, "the rules were not asked")
            #expect(world.local.rules.refusals == [])
        }
        await world.stop()
    }
}

/// Returns once it is so. The suite's time limit ends what never comes.
@MainActor func until(_ isThere: () async throws -> Bool) async throws {
    while try await !isThere() { try await Task.sleep(for: .milliseconds(1)) }
}

/// The first screen that is as it is sought.
@MainActor func screen(_ app: some PhoneApp, where isSought: (Screen) -> Bool) async throws
    -> Screen
{
    for await screen in app.screens where isSought(screen) { return screen }
    throw CancellationError()
}

/// What is deployed.
enum ExampleFile {
    static var rules: String {
        get throws {
            let root = URL(filePath: #filePath).resolvingSymlinksInPath()
                .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            let file = root.appending(path: "Examples/Messages/firestore.rules")
            return try String(contentsOf: file, encoding: .utf8)
        }
    }
}
