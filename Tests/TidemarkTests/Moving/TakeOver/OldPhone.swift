import Foundation
import TidemarkModel
import TidemarkStore
import TidemarkTesting

@testable import Tidemark
@testable import TidemarkSync

/// Plays FirebaseFirestore's part: a phone that listened to a server, and left a store in its form,
/// with the server's tokens and times.
struct OldPhone {
    static let project = "moving"
    static let root = "projects/moving/databases/(default)/documents"

    let folder: URL
    var store: WrittenStore
    private var nextTarget = 2
    private(set) var lastVersion = Timestamp.epoch

    init(_ folder: URL, version: String = "8") throws {
        self.folder = folder
        store = try WrittenStore(folder)
        put([(TestKey.table("version") + [0x80], Array(version.utf8))])
    }

    mutating func put(_ rows: [(key: [UInt8], value: [UInt8]?)]) {
        store.write(rows.map { WrittenStore.Change(key: $0.key, value: $0.value) })
    }

    /// Writes the row of a user's queue, as after each write.
    mutating func leaveTrace(of user: String) {
        let key = TestKey.table("mutation_queue") + [0x8D] + TestKey.text(user) + [0x80]
        put([(key, TestMessage.field(1, -1))])
    }

    /// Writes a waiting batch with one field of one document.
    mutating func leaveWrite(of user: String, _ batch: Int, _ path: String, _ value: Value) {
        let document =
            TestMessage.field(1, Self.root + "/" + path)
            + TestMessage.field(
                2, TestMessage.field(1, "n") + TestMessage.field(2, TestMessage.value(value)))
        let write =
            TestMessage.field(1, document)
            + TestMessage.field(3, TestMessage.field(1, "n"))
        let row =
            TestMessage.field(1, Int64(batch)) + TestMessage.field(2, write)
            + TestMessage.field(3, TestMessage.field(1, 1_700_000_000))
        put([(TestKey.mutation(user, batch), row)])
    }

    mutating func put(document path: String, _ value: [UInt8]) {
        put([(TestKey.document(path), value)])
    }

    /// Writes a target with its rows, in one transaction as FirebaseFirestore does.
    @discardableResult
    mutating func put(
        target query: [UInt8], parent: String = root, rows: [String], version: Timestamp,
        token: [UInt8], documents: [(String, [UInt8])] = []
    ) -> Int {
        let id = nextTarget
        nextTarget += 2
        var all: [(key: [UInt8], value: [UInt8]?)] = documents.map {
            (TestKey.document($0.0), $0.1)
        }
        all.append(
            (
                TestKey.target(id),
                TestMessage.target(
                    id, parent: parent, query, version: version, token: token, lastUse: id)
            ))
        for path in rows {
            all.append((TestKey.targetDocument(id, path), []))
            all.append((TestKey.documentTarget(path, id), []))
        }
        lastVersion = max(lastVersion, version)
        put(all)
        return id
    }

    mutating func finish() throws {
        put([
            (
                TestKey.table("target_global") + [0x80],
                TestMessage.field(3, TestMessage.time(lastVersion))
            )
        ])
        try store.finish()
    }

    // MARK: What a listener left

    /// The result of a query on a device of a user, with the server's token.
    struct Result {
        var rows: [String] = []
        var version = Timestamp.epoch
        var token: [UInt8] = []
        var documents: [(String, [UInt8])] = []
    }

    /// Listens to queries with a client of its own until they are fresh, and returns the results.
    static func listen(
        on local: LocalFirestore, in folder: TemporaryFolder,
        _ queries: [(Firestore) -> Tidemark.Query]
    ) async throws -> [Result] {
        let cache = folder.path + "/listener-\(UUID().uuidString)"
        let client = try local.firestore(label: "old", cache: .directory(cache))
        var values: [QueryValue] = []
        for make in queries {
            let query = make(client)
            values.append(try query.runnable())
            for try await snapshot in query.snapshots(includeMetadataChanges: true)
            where !snapshot.metadata.isFromCache { break }
        }
        await client.terminate()
        let name = try unwrap(
            try FileManager.default.contentsOfDirectory(atPath: cache).first {
                $0.hasSuffix(".sqlite")
            })
        let database = try DatabaseID(project: project, database: "(default)")
        let store = try LocalStore(.file(cache + "/" + name), database: database)
        defer { store.abandon() }
        return try values.map { query in
            let opened = try store.targets.open(store.targets.recent(query), [])
            var result = Result(token: opened.resumeToken)
            result.version = store.targets[opened.targetID]!.snapshotVersion
            for path in try store.targets.remoteKeys(of: opened.targetID).sorted() {
                result.rows.append(path.text)
                let stored = try store.documents.document(at: path)
                guard let document = stored.viewDocument?.document else { continue }
                let fields = document.fields.entries.map { ($0.key, $0.value) }
                result.documents.append(
                    (
                        path.text,
                        TestMessage.document(
                            root + "/" + path.text, fields, document.updateTime)
                    ))
            }
            return result
        }
    }
}

private struct Missing: Error {}

private func unwrap<T>(_ value: T?) throws -> T {
    guard let value else { throw Missing() }
    return value
}
