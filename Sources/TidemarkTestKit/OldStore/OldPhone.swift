package import Foundation
package import TidemarkModel

/// Plays FirebaseFirestore's part: a phone that listened to a server, and left a store in its form,
/// with the server's tokens and times.
package struct OldPhone {
    package let folder: URL
    /// The name of the database's documents.
    package let root: String
    package var store: WrittenStore
    private var nextTarget = 2
    package private(set) var lastVersion = Timestamp.epoch

    /// - Parameter version: The version of the store's form.
    package init(_ folder: URL, project: String, version: String = "8") throws {
        self.folder = folder
        root = "projects/\(project)/databases/(default)/documents"
        store = try WrittenStore(folder)
        put([(TestKey.table("version") + [0x80], Array(version.utf8))])
    }

    package mutating func put(_ rows: [(key: [UInt8], value: [UInt8]?)]) {
        store.write(rows.map { WrittenStore.Change(key: $0.key, value: $0.value) })
    }

    /// Writes the row of a user's queue, as after each write.
    package mutating func leaveTrace(of user: String) {
        let key = TestKey.table("mutation_queue") + [0x8D] + TestKey.text(user) + [0x80]
        put([(key, TestMessage.field(1, -1))])
    }

    /// Writes a waiting batch with one field of one document.
    package mutating func leaveWrite(
        of user: String, batch: Int, path: String, value: Value
    ) {
        let document =
            TestMessage.field(1, root + "/" + path)
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

    package mutating func put(document path: String, _ value: [UInt8]) {
        put([(TestKey.document(path), value)])
    }

    /// Writes a target with its rows, in one transaction as FirebaseFirestore does.
    ///
    /// - Parameter parent: The name of the query's parent; nil for the database.
    @discardableResult
    package mutating func put(
        target query: [UInt8], parent: String? = nil, rows: [String], version: Timestamp,
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
                    id, parent: parent ?? root, query, version: version, token: token, lastUse: id)
            ))
        for path in rows {
            all.append((TestKey.targetDocument(id, path), []))
            all.append((TestKey.documentTarget(path, id), []))
        }
        lastVersion = max(lastVersion, version)
        put(all)
        return id
    }

    /// A result of a query, for `putSettled`.
    package struct SettledResult {
        package var query: [UInt8]
        package var parent: String
        /// The paths, in the order of their bytes.
        package var rows: [String]
        package var token: [UInt8]

        package init(query: [UInt8], parent: String, rows: [String], token: [UInt8]) {
            (self.query, self.parent, self.rows, self.token) = (query, parent, rows, token)
        }
    }

    /// Writes results and their documents into tables as they lie long after they were written,
    /// and keeps none in memory: for stores that are larger than memory. Call this once.
    ///
    /// - Parameters:
    ///   - results: The results. Each has documents of its own, behind those of the result before.
    ///   - document: Returns the document at a path.
    package mutating func putSettled(
        _ results: [SettledResult], version: Timestamp, document: (String) -> [UInt8]
    ) throws {
        let ids = results.indices.map { nextTarget + 2 * $0 }
        nextTarget += 2 * results.count
        lastVersion = max(lastVersion, version)
        let targets = Array(zip(results, ids))
        // The tables of the store in the order of their keys.
        try append(rows(of: targets) { path, id in (TestKey.documentTarget(path, id), []) })
        try withoutActuallyEscaping(document) { document in
            try append(rows(of: targets) { path, _ in (TestKey.document(path), document(path)) })
        }
        try append(
            targets.map { result, id in
                (
                    TestKey.target(id),
                    TestMessage.target(
                        id, parent: result.parent, result.query, version: version,
                        token: result.token, lastUse: id)
                )
            })
        try append(rows(of: targets) { path, id in (TestKey.targetDocument(id, path), []) })
    }

    private mutating func append(_ rows: some Sequence<([UInt8], [UInt8])>) throws {
        try store.append(rows, toLevel: 2)
    }

    /// Returns a row for each document of each result, made when it is needed.
    private func rows(
        of targets: [(SettledResult, Int)],
        _ make: @escaping (_ path: String, _ id: Int) -> ([UInt8], [UInt8])
    ) -> some Sequence<([UInt8], [UInt8])> {
        targets.lazy.flatMap { result, id in result.rows.lazy.map { make($0, id) } }
    }

    package mutating func finish() throws {
        put([
            (
                TestKey.table("target_global") + [0x80],
                TestMessage.field(3, TestMessage.time(lastVersion))
            )
        ])
        try store.finish()
    }
}
