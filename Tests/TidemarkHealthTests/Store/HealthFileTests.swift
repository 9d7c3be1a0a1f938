import Dispatch
import Foundation
import Synchronization
import Testing
import TidemarkStore

@testable import TidemarkHealth

/// Tests the file of a store: its schema, its transactions, and readers beside a writer.
@Suite(.timeLimit(.minutes(2))) struct HealthFileTests {
    private struct Refused: Error {}

    private let scratch = try! Scratch()

    private func file(_ name: String) -> String { scratch.path + "/" + name }

    private static func days(_ db: HealthConnection) throws -> [Int64] {
        try db.rows("SELECT day FROM changed ORDER BY day") { $0.integer(0) }
    }

    private static func insert(_ day: Int64, _ db: HealthConnection) throws {
        try db.execute("INSERT INTO changed (day, number) VALUES (?, 1)", [day])
    }

    /// Gives the table of migrations the name from earlier files.
    private func makeOld(_ path: String, with step: String? = nil) throws {
        let database = try HealthDatabase(path: path)
        try database.write { db in
            try Self.insert(7, db)
            if let step {
                try db.execute("INSERT INTO migration (name) VALUES (?)", values: [.text(step)])
            }
            try db.script(
                """
                ALTER TABLE migration RENAME TO grdb_migrations;
                ALTER TABLE grdb_migrations RENAME COLUMN name TO identifier;
                """)
        }
    }

    @Test func `a file with the earlier table of migrations opens, and keeps its rows`() throws {
        let path = file("old.sqlite")
        try makeOld(path)
        for _ in 1...2 {
            let database = try HealthDatabase(path: path)
            try database.read { db in
                #expect(try Self.days(db) == [7])
                let steps = try db.rows("SELECT name FROM migration ORDER BY rowid") { $0.text(0) }
                #expect(steps == HealthSchema.steps.map(\.name))
            }
        }
    }

    @Test func `a newer file is refused`() throws {
        let path = file("newer.sqlite")
        try makeOld(path, with: "99 newer")
        #expect(throws: StoreError.newerSchema) { try HealthDatabase(path: path) }
        let error = #expect(throws: HealthExportError.self) { try HealthStore(path: path) }
        guard case .storage(let detail)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(detail.contains("newer version"))
    }

    @Test func `what is no database is an error`() throws {
        let path = file("text")
        try Data(repeating: 7, count: 8_192).write(to: URL(fileURLWithPath: path))
        #expect(throws: HealthExportError.self) { try HealthStore(path: path) }
        #expect(throws: HealthExportError.self) { try HealthStore(path: "/dev/null/x") }
    }

    @Test func `a transaction that throws, or is not kept, leaves nothing`() throws {
        let database = try HealthDatabase(path: file("a.sqlite"))
        #expect(throws: Refused.self) {
            try database.write { db in
                try Self.insert(1, db)
                throw Refused()
            }
        }
        let added = try database.write(keeping: { _ in false }) { db in
            try Self.insert(2, db)
            return try Self.days(db)
        }
        #expect(added == [2])
        #expect(try database.read(Self.days) == [])
        try database.write { try Self.insert(3, $0) }
        #expect(try database.read(Self.days) == [3])
        #expect(throws: StoreError.self) {
            try database.read { db in try Self.insert(4, db) }
        }
        #expect(try database.read(Self.days) == [3])
    }

    @Test func `readers see the state before an unfinished write, and wait for no writer`() throws {
        let database = try HealthDatabase(path: file("a.sqlite"))
        try database.write { try Self.insert(1, $0) }
        try database.write { db in
            try Self.insert(2, db)
            #expect(try database.read(Self.days) == [1])
            // A reader keeps its state while other readers begin.
            try database.read { first in
                #expect(try Self.days(first) == [1])
                let both = try database.read { try database.read(Self.days) + Self.days($0) }
                #expect(both == [1, 1])
            }
        }
        #expect(try database.read(Self.days) == [1, 2])
    }

    @Test func `more readers than connections take turns, and writers too`() throws {
        let database = try HealthDatabase(path: file("a.sqlite"))
        let reading = Mutex((now: 0, most: 0))
        let group = DispatchGroup()
        for number in Int64(0)..<40 {
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                do {
                    try database.write { try Self.insert(number, $0) }
                    try database.read { db in
                        reading.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                        defer { reading.withLock { $0.now -= 1 } }
                        let held = try Self.days(db)
                        #expect(held.contains(number))
                    }
                } catch { Issue.record("\(error)") }
            }
        }
        group.wait()
        #expect(try database.read(Self.days).count == 40)
        #expect(reading.withLock { $0.most } <= 3)
    }

    @Test func `a long log is moved into the file`() throws {
        let path = file("a.sqlite")
        let database = try HealthDatabase(path: path)
        for round in Int64(0)..<12 {
            try database.write { db in
                for day in 0..<20_000 { try Self.insert(round * 20_000 + Int64(day), db) }
            }
        }
        let size = try #require(
            try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int)
        #expect(size < 12_000_000)
    }
}
