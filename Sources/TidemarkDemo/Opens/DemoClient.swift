import Foundation
import Tidemark
import TidemarkHTTP
import TidemarkModel
import TidemarkRules
import TidemarkServer

/// One way of keeping a feed, as an app would build it.
protocol DemoClient {
    /// As in the table and on the server's meter.
    var name: String { get }

    /// Launches the app on the cache of its last run, brings it up to date, and ends it.
    mutating func open() async throws -> ClientOpen
}

/// What every client of the demo is given.
struct DemoPlace: Sendable {
    static let project = "demo"
    static let collection = "activity/all/posts"
    /// The field of an item's own time.
    static let time = "createdAt"

    /// Of Firestore.
    let port: Int
    /// The port of accounts.
    let accounts: Int
    /// The client's own folder; nothing else writes there.
    let folder: URL
    /// Who is signed in.
    var user = Membership.user

    /// Of the user, as a local server takes it, or of a server that asks all callers for one.
    private var token: String? {
        TokenVariable.value ?? RulesPerson.user(user).unsignedToken
    }

    /// For calls of the user without a client.
    func context(_ label: String) throws -> CallContext {
        var context = try Self.context(label)
        context.token = token
        return context
    }

    /// For calls of an administrator, whom no rules hold up.
    static func context(_ label: String) throws -> CallContext {
        CallContext(
            database: try DatabaseID(project: project), label: label,
            token: TokenVariable.value ?? "owner")
    }

    /// The same server, seen from another device.
    func on(_ device: String?) throws -> DemoPlace {
        guard let device else { return self }
        let other = folder.appendingPathComponent(device)
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        return DemoPlace(port: port, accounts: accounts, folder: other, user: user)
    }

    /// Of an app that makes its client by itself.
    func firestore(label: String) throws -> Firestore {
        try Firestore(
            projectID: Self.project,
            settings: FirestoreSettings(
                host: "127.0.0.1:\(port)", isSSLEnabled: false, cache: .directory(folder.path),
                label: label, token: token))
    }
}

/// The moments of one open.
struct OpenWatch {
    private let start = ContinuousClock.now
    private(set) var firstContent: Duration?

    /// The first call counts.
    mutating func sawContent() {
        if firstContent == nil { firstContent = ContinuousClock.now - start }
    }
}

extension Firestore {
    /// Ends the client, and says what it moved over the wire.
    func terminateCountingBytes() async -> Int {
        let bytes = traffic.map { $0.sent + $0.received } ?? 0
        await terminate()
        return bytes
    }
}

extension [QueryDocumentSnapshot] {
    /// The items an app would show: those that are not marked as deleted.
    var shownItems: [ShownItem] {
        compactMap { document in
            guard document.fields?[ItemFields.deletedAt] == nil, let version = document.updateTime
            else { return nil }
            return ShownItem(id: document.documentID, version: version)
        }
    }
}
