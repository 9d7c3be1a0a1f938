import Foundation
import Testing
import TidemarkModel
import TidemarkServer
import TidemarkTestKit
import TidemarkTesting

@testable import Tidemark
@testable import TidemarkSync

/// Tests what becomes of results that were taken over from FirebaseFirestore.
@Suite(.timeLimit(.minutes(2))) struct `Results from FirebaseFirestore` {
    private let temporary: TemporaryFolder

    init() throws { temporary = try TemporaryFolder() }

    private var folder: URL { URL(fileURLWithPath: temporary.path).appendingPathComponent("main") }

    private func reads(_ local: LocalFirestore) -> Int {
        local.meter().filter { $0.label == "new" }.reduce(0) { $0 + $1.reads }
    }

    private func write(_ count: Int, on local: LocalFirestore) async throws {
        let writer = try local.firestore(label: "writer", token: "owner")
        for n in 0..<count {
            try await writer.document("rooms/r\(n + 100)")
                .setData(["n": n, "a": 1, "b": 1, "c": n % 2])
        }
        await writer.terminate()
    }

    private func phone(
        _ local: LocalFirestore, online: Bool = false
    ) async throws -> Firestore {
        let phone = try local.firestore(label: "new", cache: .directory(temporary.path + "/new"))
        if !online { await phone.disableNetwork() }
        try await phone.changeUser(to: "ann")
        return phone
    }

    private func fresh(_ query: Tidemark.Query) async throws -> [String] {
        for try await snapshot in query.snapshots(includeMetadataChanges: true)
        where !snapshot.metadata.isFromCache { return snapshot.documents.map(\.documentID) }
        return []
    }

    private func cached(_ query: Tidemark.Query) async throws -> [String] {
        try await query.getDocuments(source: .cache).documents.map(\.documentID)
    }

    /// FirebaseFirestore nests the filters of a query that was chained after an AND; this client
    /// extends the AND.
    @Test func `of a query that was chained after an AND are found`() async throws {
        func chained(_ firestore: Firestore) -> Tidemark.Query {
            firestore.collection("rooms")
                .whereFilter(
                    .andFilter([
                        .whereField("a", isEqualTo: 1), .whereField("b", isEqualTo: 1),
                    ])
                )
                .whereField("c", isEqualTo: 1)
        }
        let local = try LocalFirestore.start(projectID: OldPhone.project)
        try await write(10, on: local)
        let result = try await OldPhone.listen(on: local, in: temporary, [chained])[0]
        #expect(result.rows.count == 5)
        var old = try OldPhone(folder)
        let (a, b, c) = (
            TestMessage.equal("a", .integer(1)), TestMessage.equal("b", .integer(1)),
            TestMessage.equal("c", .integer(1))
        )
        old.put(
            target: TestMessage.query(
                "rooms", where: TestMessage.and([TestMessage.and([a, b]), c])),
            rows: result.rows, version: result.version, token: result.token,
            documents: result.documents)
        try old.finish()
        let phone = try await phone(local, online: true)
        let outcome = try await phone.takeOver(folder, user: "ann", documents: .all).outcome()
        #expect(outcome.targets == 1)
        #expect(try await fresh(chained(phone)).count == 5)
        #expect(reads(local) <= 1, "the result has the key of the app's query")
        await local.stop()
    }

    @Test func `lose their rows when the rules refuse them to the new user`() async throws {
        let rules = """
            rules_version = '2';
            service cloud.firestore {
              match /databases/{database}/documents {
                match /rooms/{room} { allow read: if false; }
              }
            }
            """
        let local = try LocalFirestore.start(rules: rules, projectID: OldPhone.project)
        try await write(3, on: local)
        var old = try OldPhone(folder)
        let paths = (100..<103).map { "rooms/r\($0)" }
        let kept = "notes/n1"
        let documents = (paths + [kept]).map { path in
            (
                path,
                TestMessage.document(
                    OldPhone.root + "/" + path, fields: [("n", .integer(1))],
                    updateTime: local.now)
            )
        }
        old.put(
            target: TestMessage.query("rooms"), rows: paths, version: local.now, token: [],
            documents: documents)
        try old.finish()
        let phone = try await phone(local)
        _ = try await phone.takeOver(folder, user: "ann", documents: .all).outcome()
        let rooms = phone.collection("rooms")
        #expect(try await cached(rooms).count == 3)
        await phone.enableNetwork()
        await #expect(throws: FirestoreError.self) { _ = try await fresh(rooms) }
        #expect(try await cached(rooms).isEmpty, "they may be another user's")
        #expect(try await cached(phone.collection("notes")) == ["n1"])
        await local.stop()
    }

    @Test func `of bundles keep their names`() async throws {
        let local = try LocalFirestore.start(projectID: OldPhone.project)
        try await write(12, on: local)
        let latest: (Firestore) -> Tidemark.Query = {
            $0.collection("rooms").order(by: "n", descending: true).limit(to: 5)
        }
        let result = try await OldPhone.listen(on: local, in: temporary, [latest])[0]
        var old = try OldPhone(folder)
        let query = TestMessage.query(
            "rooms", orders: [("n", true), ("__name__", true)], limit: 5)
        // The version of a bundle's result has no token.
        old.put(
            target: query, rows: result.rows, version: result.version, token: [],
            documents: result.documents)
        old.leaveBundle("daily", naming: "latest", query, version: result.version)
        try old.finish()
        let phone = try await phone(local)
        let outcome = try await phone.takeOver(folder, user: "ann", documents: .all).outcome()
        #expect(outcome.targets == 1 && outcome.leftOut.isEmpty)
        let named = try #require(try await phone.getQuery(named: "latest"))
        #expect(try await cached(named) == (107..<112).reversed().map { "r\($0)" })
        #expect(try await phone.getQuery(named: "other") == nil)
        await local.stop()
    }

    @Test func `have values of every kind`() async throws {
        let local = try LocalFirestore.start(projectID: OldPhone.project)
        let database = try DatabaseID(project: OldPhone.project, database: "(default)")
        let fields: [(String, Value)] = [
            ("array", .array([.integer(1), .array([]), .map(["x": .null])])),
            ("boolean", .boolean(false)), ("bytes", .bytes([0, 255])), ("double", .double(-0.5)),
            ("infinity", .double(.infinity)), ("integer", .integer(.min)), ("map", .map([:])),
            ("nested", .map(["a": .map(["\u{e9}\0": .string("")])])), ("null", .null),
            ("place", .geoPoint(GeoPoint(latitude: 0, longitude: -180))),
            (
                "reference",
                .reference(
                    ReferenceValue(database: database, path: try DocumentPath("rooms/a")))
            ),
            ("time", .timestamp(Timestamp(seconds: -1, nanoseconds: 999_999_000))),
            ("vector", .vector(VectorValue([0, 1.5]))), ("zero", .integer(0)),
        ]
        var old = try OldPhone(folder)
        old.put(
            target: TestMessage.query("rooms"), rows: ["rooms/all"], version: local.now, token: [1],
            documents: [
                (
                    "rooms/all",
                    TestMessage.document(
                        OldPhone.root + "/rooms/all", fields: fields, updateTime: local.now)
                )
            ])
        try old.finish()
        let phone = try await phone(local)
        let outcome = try await phone.takeOver(folder, user: "ann", documents: .all).outcome()
        #expect(outcome.targets == 1 && outcome.leftOut.isEmpty)
        let rows = try await phone.collection("rooms").getDocuments(source: .cache).documents
        #expect(rows.map(\.fields) == [MapValue(fields)])
        await local.stop()
    }

    @Test func `of many bytes are not taken at once`() async throws {
        let local = try LocalFirestore.start(projectID: OldPhone.project)
        let text = String(repeating: "x", count: 100_000)
        let paths = (100..<150).map { "rooms/r\($0)" }
        var old = try OldPhone(folder)
        old.put(
            target: TestMessage.query("rooms"), rows: paths, version: local.now, token: [1],
            documents: paths.map { path in
                (
                    path,
                    TestMessage.document(
                        OldPhone.root + "/" + path, fields: [("text", .string(text))],
                        updateTime: local.now)
                )
            })
        try old.finish()
        let phone = try await phone(local)
        let cache = try FirebaseCache(
            folder, DatabaseID(project: OldPhone.project, database: "(default)"))
        let source = TakeOverSource(
            mark: cache.reader.digest, user: "ann", targetCount: 1, isSpent: false)
        let parts = TakeOverParts(
            TakeOverCalls(phone.engine, source), cache: cache, accepts: nil)
        _ = try await parts.begin()
        try await parts.take([phone.collection("rooms").runnable()]) {}
        #expect(try await cached(phone.collection("rooms")).isEmpty && parts.targetCount == 0)
        try await parts.takeAll { _ in }
        try await parts.adoptTargets { _ in }
        #expect(try await cached(phone.collection("rooms")).count == 50 && parts.targetCount == 1)
        await phone.terminate()
        await local.stop()
    }

    // MARK: Damage

    /// The tables of the store that a take-over reads, and what their damage costs.
    private static let tables = [
        "remote_document", "document_target", "target", "target_document", "target_global",
        "version", "mutation_queue", "mutation", "bundles", "named_queries",
    ]

    /// A file for each table of the store. In each file, one byte after the other is damaged.
    @Test(arguments: tables)
    func `lose no row that counts, whichever table is damaged`(table: String) async throws {
        let local = try LocalFirestore.start(projectID: OldPhone.project)
        let time = Timestamp(seconds: 1_600_000_000, nanoseconds: 0)
        let paths = (100..<140).map { "rooms/r\($0)" }
        var source = try OldPhone(folder.appendingPathExtension("source"))
        source.leaveTrace(of: "ann")
        source.put(
            target: TestMessage.query("rooms"), rows: paths, version: time, token: [1],
            documents: paths.map { path in
                (
                    path,
                    TestMessage.document(
                        OldPhone.root + "/" + path, fields: [("n", .integer(1))],
                        updateTime: time)
                )
            })
        source.leaveWrite(of: "ann", batch: 1, path: paths[0], value: .integer(2))
        source.leaveBundle("daily", naming: "all", TestMessage.query("rooms"), version: time)
        try source.finish()
        var damaged = 0
        let (file, size) = try split(source.folder)[table]!
        for place in stride(from: 0, to: size, by: max(1, size / 24)) {
            _ = try split(source.folder)
            let url = folder.appendingPathComponent(file)
            var data = try Data(contentsOf: url)
            data[place] ^= 0x11
            try data.write(to: url)
            let phone = try local.firestore(
                label: "new", cache: .directory(temporary.path + "/new-\(place)"))
            await phone.disableNetwork()
            try await phone.changeUser(to: "ann")
            let outcome = try await phone.takeOver(folder, user: "ann").outcome()
            let rows = try await cached(phone.collection("rooms"))
            if outcome.targets > 0 { #expect(rows.count == 40, "\(place)") }
            let writes = outcome.writesProblem == nil ? 1 : 0
            #expect(outcome.writes.queued.count == writes, "\(place)")
            let isSaid =
                outcome.refusal != nil || !outcome.problems.isEmpty || outcome.writesProblem != nil
            #expect(isSaid || outcome.targets == 1, "\(place)")
            if isSaid { damaged += 1 }
            await phone.terminate()
        }
        #expect(damaged > 10, "\(table): \(damaged)")
        await local.stop()
    }

    /// Writes the rows of a store into a file for each table.
    ///
    /// - Returns: The names and sizes of the files.
    private func split(_ source: URL) throws -> [String: (file: String, size: Int)] {
        try? FileManager.default.removeItem(at: folder)
        let reader = try StoreReader(source, under: Self.tables.map { TestKey.table($0) })
        var store = try WrittenStore(folder)
        var files: [String: (file: String, size: Int)] = [:]
        for table in Self.tables {
            var cursor = reader.cursor(under: TestKey.table(table))
            while let (key, value) = try cursor.next() {
                store.write([WrittenStore.Change(key: key, value: value)])
            }
            let before = try Set(FileManager.default.contentsOfDirectory(atPath: folder.path))
            try store.flush()
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
            where !before.contains(name) {
                let data = try Data(contentsOf: folder.appendingPathComponent(name))
                files[table] = (name, data.count)
            }
        }
        try store.finish()
        return files
    }
}

extension OldPhone {
    /// Writes the rows of a loaded bundle and of its named query.
    fileprivate mutating func leaveBundle(
        _ id: String, naming name: String, _ query: [UInt8], version: Timestamp
    ) {
        let bundled = TestMessage.field(1, OldPhone.root) + TestMessage.field(2, query)
        put([
            (
                TestKey.table("named_queries") + [0x92] + TestKey.text(name) + [0x80],
                TestMessage.field(1, name) + TestMessage.field(2, bundled)
                    + TestMessage.field(3, TestMessage.time(version))
            ),
            (
                TestKey.table("bundles") + [0x91] + TestKey.text(id) + [0x80],
                TestMessage.field(1, id) + TestMessage.field(2, TestMessage.time(version))
                    + TestMessage.field(3, 1)
            ),
        ])
    }
}
