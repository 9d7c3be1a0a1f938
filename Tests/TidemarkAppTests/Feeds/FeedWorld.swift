import Foundation
import Synchronization
import Tidemark
import TidemarkApp
import TidemarkServer

/// A clock that moves only when a test moves it.
private final class StandingClock: Sendable {
    private let time = Mutex<Int64>(1_700_000_000)

    var seconds: Int64 { time.withLock { $0 } }
    func pass(_ seconds: Int64) { time.withLock { $0 += seconds } }
}

/// A server in this process, an author who writes to it, and a device with a feed on disk.
final class FeedWorld {
    let server: FirestoreServer
    private let folder: String
    private(set) var device: Firestore
    private(set) var feed: Feed
    private let pageSize: Int
    private let window: Int
    private let limit: Int?
    private let clock = StandingClock()
    private(set) var ids: [String] = []

    init(pageSize: Int = 500, window: Int = 50, limit: Int? = nil) async throws {
        var environment = ServerEnvironment.live()
        environment.now = { [clock] in Timestamp(seconds: clock.seconds, nanoseconds: 0) }
        server = try FirestoreServer(FirestoreServer.Configuration(), environment: environment)
        folder =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-" + UUID().uuidString).path
        self.pageSize = pageSize
        self.window = window
        self.limit = limit
        device = try Self.client(server, folder, clock)
        feed = try Self.feed(device, pageSize, window, limit)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Returns a device whose clock is `behind` seconds behind the server's.
    private static func client(
        _ server: any Transport, _ folder: String, _ clock: StandingClock, behind: Int64 = 0
    ) throws -> Firestore {
        var environment = SyncEnvironment.live(server)
        environment.now = { Timestamp(seconds: clock.seconds - behind, nanoseconds: 0) }
        return try Firestore(
            projectID: "p",
            settings: FirestoreSettings(
                cache: .directory(folder), label: "device", readDeadline: .seconds(20)),
            environment: environment)
    }

    private static func feed(
        _ device: Firestore, _ pageSize: Int, _ window: Int, _ limit: Int?
    ) throws -> Feed {
        try Feed(definition(device, pageSize, window, limit))
    }

    private static func definition(
        _ device: Firestore, _ pageSize: Int, _ window: Int, _ limit: Int?
    ) -> FeedDefinition {
        FeedDefinition(
            query: device.collection("messages"), itemTime: "createdAt",
            way: .changeTime("updatedAt", deletedField: "deletedAt"), pageSize: pageSize,
            window: window, limit: limit)
    }

    var definition: FeedDefinition { Self.definition(device, pageSize, window, limit) }

    /// Ends the app and starts it again on the same disk.
    ///
    /// - Parameters:
    ///   - behind: The number of seconds by which the device's clock is behind.
    ///   - transport: The connection to the server; nil for the direct one.
    func relaunch(
        clockBehind behind: Int64 = 0, through transport: (any Transport)? = nil
    ) async throws {
        await device.terminate()
        device = try Self.client(transport ?? server, folder, clock, behind: behind)
        feed = try Self.feed(device, pageSize, window, limit)
        try await feed.open()
    }

    /// Returns the state of a second feed that is opened from the same disk with another window.
    func reread(window: Int) async throws -> FeedState {
        let other = try Self.feed(device, pageSize, window, limit)
        try await other.open()
        return await other.state
    }

    /// Terminates the device before its files are deleted.
    func end() async {
        await device.terminate()
        server.close()
    }

    /// The server's clock, in seconds since 1970; only ``wait(_:)`` moves it.
    var now: Int64 { clock.seconds }

    func wait(_ seconds: Int64) { clock.pass(seconds) }

    var context: CallContext { CallContext(database: device.databaseID, label: "author") }

    private func write(_ id: String, _ fields: MapValue) async throws {
        _ = try await server.commit([try mutation(id, fields)], context)
    }

    private func mutation(_ id: String, _ fields: MapValue) throws -> Mutation {
        Mutation(
            path: try DocumentPath("messages/\(id)"),
            .patch(fields, mask: try fields.map { try FieldPath(segments: [$0.key]) }),
            transforms: [
                FieldTransform(try FieldPath(segments: ["updatedAt"]), .serverTimestamp)
            ])
    }

    /// Inserts items in commits of 500. Their times are one second apart.
    func insert(many count: Int) async throws {
        for start in stride(from: 0, to: count, by: 500) {
            var mutations: [Mutation] = []
            for index in start..<min(start + 500, count) {
                let time = Timestamp(seconds: now - Int64(count - index), nanoseconds: 0)
                mutations.append(
                    try mutation(
                        "n\(index)", ["createdAt": .timestamp(time), "text": .string("many")]))
                ids.append("n\(index)")
            }
            _ = try await server.commit(mutations, context)
        }
    }

    /// - Parameter age: The age of the item in seconds, by its own time.
    @discardableResult
    func insert(age: Int64 = 0, id: String? = nil) async throws -> String {
        let id = id ?? "m\(ids.count)"
        ids.append(id)
        let createdAt = Timestamp(seconds: now - age, nanoseconds: 0)
        try await write(id, ["createdAt": .timestamp(createdAt), "text": .string("hello")])
        return id
    }

    /// Inserts an item whose text is a number.
    func insertUndecodable(_ id: String) async throws {
        let createdAt = Timestamp(seconds: now, nanoseconds: 0)
        try await write(id, ["createdAt": .timestamp(createdAt), "text": .integer(7)])
    }

    func edit(_ id: String, _ text: String) async throws {
        try await write(id, ["text": .string(text)])
    }

    func delete(_ id: String) async throws {
        try await write(id, ["deletedAt": .timestamp(Timestamp(seconds: now, nanoseconds: 0))])
    }

    /// Undoes the delete of an item.
    func restore(_ id: String) async throws { try await write(id, ["deletedAt": .null]) }

    /// Returns the items that a device shows after it reads everything: path and text, newest
    /// first.
    func truth(above action: Timestamp? = nil) async throws -> [String] {
        let query = QueryValue(
            collection: try CollectionPath("messages"),
            ordered: [
                Order(try FieldPath(segments: ["createdAt"]), .descending),
                Order(.documentID, .descending),
            ])
        return try await server.documents(of: query, context).documents.compactMap { document in
            let fields = document.fields
            guard fields["deletedAt"] ?? .null == .null,
                case .timestamp(let time)? = fields["createdAt"],
                action.map({ time > $0 }) ?? true, case .string(let text)? = fields["text"]
            else { return nil }
            return document.path.text + " " + text
        }
    }

    func shown() async -> [String] { await feed.state.texts }

    /// Returns the number of reads that the server billed to the device.
    func billed(label: String = "device") -> Int {
        server.meter().filter { $0.label == label }.map(\.reads).reduce(0, +)
    }
}

extension FeedState {
    /// The shown items in the form of ``FeedWorld/truth(above:)``.
    var texts: [String] {
        items.map { $0.id + " " + ($0.document["text"] as? String ?? "") }
    }
}

extension QueryValue {
    init(collection: CollectionPath, ordered orders: [Order]) {
        self.init(collection: collection)
        self.orders = orders
    }
}
