import Foundation
import TidemarkModel
import TidemarkStore
import TidemarkTestKit
import TidemarkTesting

@testable import Tidemark
@testable import TidemarkSync

extension OldPhone {
    static let project = "moving"
    static let root = "projects/moving/databases/(default)/documents"

    init(_ folder: URL, version: String = "8") throws {
        try self.init(folder, project: Self.project, version: version)
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
                            root + "/" + path.text, fields: fields, updateTime: document.updateTime)
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
