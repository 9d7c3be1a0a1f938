public import ExampleKit
public import Foundation
public import Tidemark
import TidemarkServer
public import TidemarkTesting

/// A server in the process under the rules of an example app, and the phones of one user.
@MainActor public final class PhoneWorld {
    public let local: LocalFirestore
    /// The clock for the app's waits. The server and its clients use the server's clock.
    public let clock = ManualClock()
    public let user = PhoneUser(id: "ada", name: "Ada", email: "ada@example.org")
    /// The disks of the phones, with a folder for each.
    public let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("tidemark-example-\(UUID().uuidString)")

    public init(_ rules: ExampleRules) throws {
        local = try LocalFirestore.start(rules: rules.text)
    }

    /// Returns the other people around the phones, at the server's time.
    public func project() throws -> PhoneProject {
        PhoneProject(
            firestore: try local.firestore(label: "project", token: "owner"), user: user,
            dayStart: local.now)
    }

    func stop() async {
        await local.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}

/// The world around the phones in the tests of an example.
@MainActor public protocol ExampleWorld: Sendable {
    static var example: Example { get }

    init() throws

    var world: PhoneWorld { get }
    /// The clock for the waits of a phone's app: ``clock``, unless a world provides another.
    var phoneClock: any Clock<Duration> { get }
}

extension ExampleWorld {
    public var local: LocalFirestore { world.local }
    public var clock: ManualClock { world.clock }
    public var phoneClock: any Clock<Duration> { clock }

    /// Returns a client on a device's disk. Terminate the client before you make the next.
    public func client(_ device: String = "phone") throws -> Firestore {
        try local.firestore(
            as: .user(world.user.id), label: device,
            cache: .directory(world.folder.appendingPathComponent(device).path))
    }

    /// Returns the environment of a phone with this client.
    public func environment(_ firestore: Firestore) -> PhoneEnvironment {
        let settings = PhoneSettings(
            folder: world.folder.appendingPathComponent("phone").path, project: local.projectID,
            firestore: "", accounts: "", user: world.user, label: "phone")
        return PhoneEnvironment(
            settings, now: { [local] in local.now.dateValue() }, clock: phoneClock,
            firestore: { _ in firestore })
    }

    /// Returns the app on Tidemark, or the old app.
    public func phone(isAfter: Bool = true, _ firestore: Firestore) throws -> any PhoneApp {
        let app = isAfter ? Self.example.after : Self.example.before
        return try app.init(environment(firestore))
    }

    /// Returns the number of reads that a device was billed for.
    public func reads(_ device: String = "phone") -> Int {
        local.meter().filter { $0.label == device }.reduce(0) { $0 + $1.reads }
    }

    /// Plays a test in a world, and ends the world.
    ///
    /// - Parameters:
    ///   - asksRules: True if the app sends requests.
    ///   - isRefused: True if the test expects the rules to refuse a request.
    /// - Throws: ``ExampleWorldFault`` if the rules were not asked, or if they refuse a request
    ///   that the test does not expect to fail.
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

/// Returns the first screen for which `isSought` is true.
@MainActor public func screen(
    _ app: some PhoneApp, where isSought: (Screen) -> Bool
) async throws -> Screen {
    for await screen in app.screens where isSought(screen) { return screen }
    throw CancellationError()
}

extension Screen {
    /// The rows of all sections.
    public var rows: [Row] { sections.flatMap(\.rows) }
}

/// Returns a deployed file of `Examples/`, such as `Chats/firestore.indexes.json`.
public func exampleFile(_ path: String) throws -> Data {
    let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return try Data(contentsOf: root.appending(path: "Examples/\(path)"))
}
