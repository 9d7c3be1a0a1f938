public import ExampleKit
public import Foundation
public import Tidemark
import TidemarkServer
public import TidemarkTesting

/// A server in the process under the rules of an example app, and the phones of one user.
@MainActor public final class PhoneWorld {
    public let local: LocalFirestore
    /// Of what the app waits for; the server and its clients have the server's own.
    public let clock = ManualClock()
    public let user = PhoneUser(id: "ada", name: "Ada", email: "ada@example.org")
    /// The phones' disks, a folder each.
    public let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidemark-example-\(UUID().uuidString)")

    public init(_ rules: ExampleRules) throws {
        local = try LocalFirestore.start(rules: rules.text)
    }

    /// The people around the phones, as of now.
    public func town() throws -> Town {
        Town(
            firestore: try local.firestore(label: "town", token: "owner"), user: user,
            dayStart: local.now)
    }

    func stop() async {
        await local.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}

/// What the tests of an example have around its phones.
@MainActor public protocol ExampleWorld: Sendable {
    static var example: Example { get }

    init() throws

    var world: PhoneWorld { get }
    /// What a phone's app waits by: ``clock``, unless a world says otherwise.
    var phoneClock: any Clock<Duration> { get }
}

extension ExampleWorld {
    public var local: LocalFirestore { world.local }
    public var clock: ManualClock { world.clock }
    public var phoneClock: any Clock<Duration> { clock }

    /// A client on a device's disk; terminate it before the next one.
    public func client(_ device: String = "phone") throws -> Firestore {
        try local.firestore(
            as: .user(world.user.id), label: device,
            cache: .directory(world.folder.appendingPathComponent(device).path))
    }

    /// A phone with that client.
    public func environment(_ firestore: Firestore) -> PhoneEnvironment {
        let settings = PhoneSettings(
            folder: world.folder.appendingPathComponent("phone").path, project: local.projectID,
            firestore: "", accounts: "", user: world.user, label: "phone")
        return PhoneEnvironment(
            settings, now: { [local] in local.now.dateValue() }, clock: phoneClock,
            firestore: { _ in firestore })
    }

    /// The app on Tidemark, or as it was.
    public func phone(isAfter: Bool = true, _ firestore: Firestore) throws -> any PhoneApp {
        let app = isAfter ? Self.example.after : Self.example.before
        return try app.init(environment(firestore))
    }

    /// What a device was billed.
    public func reads(_ device: String = "phone") -> Int {
        local.meter().filter { $0.label == device }.reduce(0) { $0 + $1.reads }
    }

    /// Plays a test in a world, and ends it.
    ///
    /// - Parameters:
    ///   - asksRules: Whether the app sends anything.
    ///   - isRefused: Whether the rules refuse something, as the test wants it.
    /// - Throws: ``ExampleWorldFault`` where the rules were not asked, or refuse what they should not.
    public static func run(
        asksRules: Bool = true, isRefused: Bool = false, _ body: (Self) async throws -> Void
    ) async throws {
        let example = try Self()
        do {
            try await body(example)
            if !isRefused {
                let judged = example.local.server.judgedRequests()
                if asksRules, judged.isEmpty { throw ExampleWorldFault.rulesNotAsked }
                let refusals = example.local.rules.refusals
                if !refusals.isEmpty { throw ExampleWorldFault.refused(refusals.map { "\($0)" }) }
            }
        } catch {
            await example.world.stop()
            throw error
        }
        await example.world.stop()
    }
}

public enum ExampleWorldFault: Error, Equatable {
    case rulesNotAsked
    case refused([String])
}

/// The first screen that is as it is sought.
@MainActor public func screen(
    _ app: some PhoneApp, where isSought: (Screen) -> Bool
) async throws -> Screen {
    for await screen in app.screens where isSought(screen) { return screen }
    throw CancellationError()
}

extension Screen {
    /// Of all its sections.
    public var rows: [Row] { sections.flatMap(\.rows) }
}

/// A file of `Examples/`, as it is deployed: `Chats/firestore.indexes.json`.
public func exampleFile(_ path: String) throws -> Data {
    let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return try Data(contentsOf: root.appending(path: "Examples/\(path)"))
}
