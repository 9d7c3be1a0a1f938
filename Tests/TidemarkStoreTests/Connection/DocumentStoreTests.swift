import Foundation
import CTidemarkSQLite
import Testing
import TidemarkModel

@testable import TidemarkStore

struct DocumentStoreTests {
    private struct Refused: Error {}
    private let folder = TemporaryFolder()
    private let notes = StoreMigration("notes", sql: "CREATE TABLE note (text TEXT NOT NULL)")

    @Test func `a file keeps documents, its folder is made`() throws {
        let file = DocumentStore.Location.file(folder.path("deep/below/store.sqlite"))
        let store = try DocumentStore(file)
        let document = found("rooms/a", ["n": .integer(1)], at: 7)
        try store.write(.disk) { try $0.documents(of: testDatabase).put(document) }
        try store.close()
        let again = try DocumentStore(file)
        let read = try again.read { try $0.documents(of: testDatabase).document(at: document.path) }
        #expect(read == document)
    }

    @Test func `only a commit that must outlive the power is synced`() throws {
        let store = try DocumentStore(.file(folder.path("store.sqlite")))
        for (durability, level) in [(.disk, 2), (.process, 1), (.disk, 2)]
            as [(DocumentStore.Durability, Int64)]
        {
            let rows = try store.write(durability) { try $0.rows("PRAGMA synchronous") }
            #expect(try rows.first?.integer(0) == level)
        }
    }

    @Test func `every kind and time of a document comes back`() throws {
        let store = try DocumentStore(.memory)
        var document = found("rooms/a", ["é": .null], at: Timestamp.min.microseconds)
        document.updateTime = .max
        document.hasCommittedMutations = true
        try store.write { transaction throws in
            let table = transaction.documents(of: testDatabase)
            try table.put(document)
            #expect(try table.document(at: document.path) == document)
            try table.put(missing("rooms/a"))
            #expect(try table.document(at: document.path) == missing("rooms/a"))
            try table.remove(document.path)
            try table.remove(document.path)
            #expect(try table.document(at: document.path) == nil)
        }
    }

    @Test func `databases do not see each other`() throws {
        let store = try DocumentStore(.memory)
        let other = try DatabaseID(project: "other")
        try store.write { transaction throws in
            try transaction.documents(of: testDatabase).put(found("rooms/a"))
            try transaction.documents(of: other).put(found("rooms/b"))
            try transaction.documents(of: testDatabase).removeAll()
            let query = Query(collectionID: "rooms")
            #expect(try transaction.documents(of: testDatabase).run(query).documents.isEmpty)
            #expect(try transaction.documents(of: other).run(query).documents.count == 1)
        }
    }

    @Test func `a transaction that throws leaves nothing`() throws {
        let store = try DocumentStore(.memory, migrations: [notes])
        #expect(throws: Refused.self) {
            try store.write { transaction throws in
                try transaction.documents(of: testDatabase).put(found("rooms/a"))
                try transaction.execute("INSERT INTO note VALUES ('x')")
                throw Refused()
            }
        }
        // The undone transaction created the collection, so the next one creates it again.
        try store.write { try $0.documents(of: testDatabase).put(found("rooms/b")) }
        try store.read { transaction throws in
            #expect(try transaction.rows("SELECT * FROM note").isEmpty)
            let rows = try transaction.documents(of: testDatabase).run(Query(collectionID: "rooms"))
            #expect(rows.documents.map(\.path.id) == ["b"])
        }
    }

    @Test func `reading cannot write`() throws {
        let store = try DocumentStore(.memory, migrations: [notes])
        #expect(throws: StoreError.self) {
            try store.read { try $0.documents(of: testDatabase).put(found("rooms/a")) }
        }
        #expect(throws: StoreError.self) {
            try store.read { try $0.execute("INSERT INTO note VALUES ('x')") }
        }
    }

    @Test func `values of all types go into rows and come out`() throws {
        let store = try DocumentStore(.memory)
        let values: [SQLValue] = [
            .null, .integer(-5), .real(0.5), .text("e\u{301}\0"), .text(""), .blob([0, 255]),
            .blob([]),
        ]
        let rows = try store.read { try $0.rows("SELECT ?, ?, ?, ?, ?, ?, ?", values) }
        #expect(rows.map(\.values) == [values])
        let error = #expect(throws: StoreError.self) {
            try store.read { try $0.rows("SELECT ?", []) }
        }
        #expect(error?.recovery == .report)
    }

    @Test func `a second opener is told at once that the file is in use`() throws {
        let file = DocumentStore.Location.file(folder.path("store.sqlite"))
        let store = try DocumentStore(file)
        #expect(throws: StoreError.locked) { try DocumentStore(file) }
        try store.close()
        #expect(throws: Never.self) { try DocumentStore(file) }
    }

    @Test func `a file, its log, and one made by an older version are this user's alone`() throws {
        let path = folder.path("store.sqlite")
        func mode(_ name: String) throws -> Int {
            let attributes = try FileManager.default.attributesOfItem(atPath: name)
            return try #require(attributes[.posixPermissions] as? Int)
        }
        let store = try DocumentStore(.file(path), migrations: [notes])
        #expect(try mode(path) == 0o600)
        try store.write { try $0.execute("INSERT INTO note VALUES ('x')") }
        #expect(try mode(path + "-wal") == 0o600)
        // A check of the mode does not release the lock of the store that has the file open.
        #expect(throws: StoreError.locked) { try DocumentStore(.file(path)) }
        #expect(throws: StoreError.locked) { try DocumentStore(.file(path)) }
        try store.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        try DocumentStore(.file(path), migrations: [notes]).close()
        #expect(try mode(path) == 0o600)
    }

    @Test func `what a locked device says of a file is no damage, and nothing to rebuild`() {
        for code in [SQLITE_AUTH, SQLITE_PERM, SQLITE_AUTH | 1 << 8] {
            #expect(StoreError(code: code, detail: "authorization denied") == .protected)
        }
        for code in [SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_IOERR | 1 << 8] {
            #expect(StoreError(code: code, detail: "", systemCode: EPERM) == .protected)
            #expect(StoreError(code: code, detail: "x") == .unreadable(detail: "x"))
            #expect(
                StoreError(code: code, detail: "x", systemCode: ENOENT)
                    == .unreadable(detail: "x"))
        }
        #expect(StoreError.protected.recovery == .unlockDevice)
    }

    @Test func `a file that lacks a step gets it, and is opened as it is from then on`() throws {
        let file = DocumentStore.Location.file(folder.path("store.sqlite"))
        try DocumentStore(file).close()
        for round in 1...3 {
            let store = try DocumentStore(file, migrations: [notes])
            #expect(throws: StoreError.locked) { try DocumentStore(file, migrations: [notes]) }
            try store.write { try $0.execute("INSERT INTO note VALUES ('x')") }
            #expect(try store.read { try $0.rows("SELECT * FROM note") }.count == round)
            try store.close()
        }
    }

    @Test func `a newer file is refused and left as it is`() throws {
        let path = folder.path("store.sqlite")
        try DocumentStore(.file(path), migrations: [notes]).close()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(throws: StoreError.newerSchema) { try DocumentStore(.file(path)) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    /// Gives the table of migrations the name that it had in earlier files.
    private func makeOld(_ path: String, _ migrations: [StoreMigration] = []) throws {
        let store = try DocumentStore(.file(path), migrations: migrations)
        try store.write { transaction throws in
            try transaction.documents(of: testDatabase).put(found("rooms/a"))
            try transaction.execute("ALTER TABLE migration RENAME TO grdb_migrations")
            try transaction.execute(
                "ALTER TABLE grdb_migrations RENAME COLUMN name TO identifier")
        }
        try store.close()
    }

    @Test func `a file with the earlier table of migrations opens, and keeps its documents`()
        throws
    {
        let path = folder.path("store.sqlite")
        try makeOld(path)
        for round in 1...2 {
            let store = try DocumentStore(.file(path), migrations: [notes])
            let steps = (StoreMigration.ofStore + [notes]).map(\.name)
            try store.write { transaction throws in
                let rows = try transaction.rows("SELECT name FROM migration ORDER BY rowid")
                #expect(try rows.map { try $0.text(0) } == steps)
                let tables = "SELECT name FROM sqlite_schema WHERE name LIKE 'grdb%'"
                #expect(try transaction.rows(tables).isEmpty)
                let query = Query(collectionID: "rooms")
                let found = try transaction.documents(of: testDatabase).run(query)
                #expect(found.documents.map(\.path.id) == ["a"])
                try transaction.execute("INSERT INTO note VALUES ('x')")
                #expect(try transaction.rows("SELECT * FROM note").count == round)
            }
            try store.close()
        }
    }

    @Test func `a newer file with the earlier table is refused and left as it is`() throws {
        let path = folder.path("store.sqlite")
        try makeOld(path, [notes])
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(throws: StoreError.newerSchema) { try DocumentStore(.file(path)) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func `what is no database is corrupt, and what is no file unreadable`() throws {
        let path = folder.path("store.sqlite")
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try Data(repeating: 7, count: 8_192).write(to: URL(fileURLWithPath: path))
        let corrupt = #expect(throws: StoreError.self) { try DocumentStore(.file(path)) }
        #expect(corrupt?.recovery == .rebuild)
        let unreadable = #expect(throws: StoreError.self) {
            try DocumentStore(.file(folder.url.path))
        }
        #expect(unreadable?.recovery == .checkDisk)
    }

    @Test func `a full disk is an error that leaves what was there`() throws {
        let store = try DocumentStore(.file(folder.path("store.sqlite")))
        try store.write { try $0.documents(of: testDatabase).put(found("rooms/a")) }
        _ = try store.read { try $0.rows("PRAGMA max_page_count = 40") }
        let large = found("rooms/b", ["x": .bytes([UInt8](repeating: 1, count: 400_000))])
        #expect(throws: StoreError.full) {
            try store.write { try $0.documents(of: testDatabase).put(large) }
        }
        try store.write { try $0.documents(of: testDatabase).put(found("rooms/c")) }
        let ids = try store.read { transaction throws in
            try transaction.documents(of: testDatabase).run(Query(collectionID: "rooms"))
                .documents.map(\.path.id)
        }
        #expect(ids == ["a", "c"])
    }

    @Test func `a closed store throws`() throws {
        let store = try DocumentStore(.memory)
        try store.close()
        try store.close()
        #expect(throws: StoreError.self) { try store.read { _ in } }
        #expect(throws: StoreError.self) { try store.write { _ in } }
        #expect(throws: StoreError.self) { try store.buildWantedIndexes() }
    }
}
