import Foundation
import Tidemark
import TidemarkHTTP
import TidemarkModel
import TidemarkRules
import TidemarkServer

/// A client that keeps a feed in one of the ways in which an app could.
protocol DemoClient {
    /// The name in the table and on the server's meter.
    var name: String { get }

    /// Launches the app on the cache of its last run, brings it up to date, and ends it.
    ///
    /// - Parameter ahead: The time that has passed by the server's clock since the first open.
    mutating func open(ahead: Duration) async throws -> ClientOpen
}

/// The server and the device that a client of the demo uses.
struct DemoPlace: Sendable {
    static let project = "demo"
    static let collection = "activity/all/posts"
    /// The field with an item's own time.
    static let time = "createdAt"

    /// The port of Firestore.
    let port: Int
    /// The port of accounts.
    let accounts: Int
    /// The client's own folder. Nothing else writes there.
    let folder: URL
    /// The id of the signed-in user.
    var user = Membership.user

    /// The user's token in the form that a local server accepts; or the token from the environment,
    /// for a server that requires it from all callers.
    private var token: String? {
        TokenVariable.value ?? RulesPerson.user(user).unsignedToken
    }

    /// Returns the context for calls of the user that use no client.
    func context(_ label: String) throws -> CallContext {
        var context = try Self.context(label)
        context.token = token
        return context
    }

    /// Returns the context for calls of an administrator, to whom no rules apply.
    static func context(_ label: String) throws -> CallContext {
        CallContext(
            database: try DatabaseID(project: project), label: label,
            token: TokenVariable.value ?? "owner")
    }

    /// Returns the place for another device with the same server.
    func on(_ device: String?) throws -> DemoPlace {
        guard let device else { return self }
        let other = folder.appendingPathComponent(device)
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        return DemoPlace(port: port, accounts: accounts, folder: other, user: user)
    }

    /// Makes a client for an app that does not use Tidemark's stack.
    func firestore(label: String) throws -> Firestore {
        try Firestore(
            projectID: Self.project,
            settings: FirestoreSettings(
                host: "127.0.0.1:\(port)", isSSLEnabled: false, cache: .directory(folder.path),
                label: label, token: token))
    }
}

/// The times within one open.
struct OpenWatch {
    private let start = ContinuousClock.now
    private(set) var firstContent: Duration?

    /// Records the time of the first call. Later calls have no effect.
    mutating func sawContent() {
        if firstContent == nil { firstContent = ContinuousClock.now - start }
    }
}

extension Firestore {
    /// Ends the client, and returns the number of bytes that it sent and received.
    func terminateCountingBytes() async -> Int {
        let bytes = traffic.map { $0.sent + $0.received } ?? 0
        await terminate()
        return bytes
    }
}

extension [QueryDocumentSnapshot] {
    /// The items that an app shows: those without a mark of deletion.
    var shownItems: [ShownItem] {
        compactMap { document in
            guard document.fields?[ItemFields.deletedAt] == nil, let version = document.updateTime
            else { return nil }
            return ShownItem(id: document.documentID, version: version)
        }
    }
}
