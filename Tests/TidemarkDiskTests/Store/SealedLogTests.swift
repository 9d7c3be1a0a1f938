import Foundation
import Testing
import TidemarkModel

@testable import TidemarkStore

/// Runs random transactions on a store with a cache of a few pages, so pages go to the log before
/// their transaction ends. Some transactions are rolled back, the log is moved, and the process is
/// killed. The test compares the rows with a dictionary.
struct SealedLogTests {
    private typealias Rows = [Int64: [UInt8]]
    private struct Undone: Error {}

    private static let rounds = 60

    private static func change(
        _ rows: inout Rows, _ transaction: StoreTransaction, _ dice: inout Dice
    ) throws {
        let id = Int64(dice.roll(120))
        guard !dice.chance(15) else {
            rows[id] = nil
            return try transaction.execute("DELETE FROM row WHERE id = ?", [.integer(id)])
        }
        let length = dice.pick([10, 300, 3_000, 9_000])
        rows[id] = [UInt8](repeating: UInt8(dice.roll(256)), count: length)
        try transaction.execute(
            "INSERT OR REPLACE INTO row (id, data) VALUES (?, ?)", [.integer(id)],
            last: rows[id]!)
    }

    private static func changes(
        _ count: Int, _ rows: inout Rows, _ transaction: StoreTransaction, _ dice: inout Dice
    ) throws {
        for _ in 0..<count { try change(&rows, transaction, &dice) }
    }

    /// Adds long rows at the end. They go to pages that no read has loaded before.
    private static func append(
        _ count: Int, _ rows: inout Rows, _ transaction: StoreTransaction, _ dice: inout Dice
    ) throws {
        for id in (rows.keys.max() ?? 0) + 1...(rows.keys.max() ?? 0) + Int64(count) {
            rows[id] = [UInt8](repeating: UInt8(dice.roll(256)), count: 30_000)
            try transaction.execute(
                "INSERT INTO row (id, data) VALUES (?, ?)", [.integer(id)], last: rows[id]!)
        }
    }

    private static func read(_ store: DocumentStore) throws -> Rows {
        let rows = try store.read { try $0.rows("SELECT id, data FROM row") }
        return try Rows(uniqueKeysWithValues: rows.map { (try $0.integer(0), try $0.blob(1)) })
    }

    private static func open(_ path: String, _ atRest: AtRest) throws -> DocumentStore {
        try DocumentStore(
            .file(path), tuning: DocumentStore.Tuning(cacheKibibytes: 40), key: atRest.key)
    }

    /// A store that starts without rows, and the state of the test.
    private struct Played {
        var dice: Dice
        var rows: Rows = [:]
        let disk: LossyDisk
        let atRest: AtRest
        var store: DocumentStore

        init(_ atRest: AtRest, seed: UInt64 = 0) throws {
            dice = Dice(seed: seed)
            disk = try LossyDisk(seed: seed)
            self.atRest = atRest
            store = try SealedLogTests.open(disk.path("store.sqlite"), atRest)
            try store.write {
                try $0.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
            }
        }

        func copy() throws -> StoreCopy { try StoreCopy(of: disk.path("store.sqlite")) }

        /// Compares the rows with the rows that a kill would leave.
        func expectAfterKill(_ comment: Comment) throws {
            let copy = try copy()
            #expect(!copy.isOutdated)
            let killed = try SealedLogTests.open(copy.path, atRest)
            #expect(try SealedLogTests.read(killed) == rows, comment)
        }

        mutating func reopen() throws {
            try store.close()
            store = try SealedLogTests.open(disk.path("store.sqlite"), atRest)
        }
    }

    @Test(arguments: UInt64(0)..<12, AtRest.allCases)
    func `what is read is what was written last and not undone`(
        seed: UInt64, atRest: AtRest
    ) throws {
        var played = try Played(atRest, seed: seed)
        for round in 0..<Self.rounds {
            var changed = played.rows
            do {
                try played.store.write { transaction in
                    let count = 1 + played.dice.roll(150)
                    try Self.changes(count, &changed, transaction, &played.dice)
                    if played.dice.chance(20) { throw Undone() }
                }
                played.rows = changed
            } catch is Undone {}
            // This check must come before SQLite next reads the log, because that read writes the
            // kept frames.
            if played.dice.chance(20) { try played.expectAfterKill("round \(round)") }
            #expect(try Self.read(played.store) == played.rows, "round \(round)")
            if played.dice.chance(20) { played.store.moveLog() }
            if played.dice.chance(10) { try played.reopen() }
        }
    }

    /// The store has no savepoints, but SQLite rolls a statement back in the same way. The changes
    /// before the savepoint are large, so a page is already written to the log twice. If that
    /// happens only after the savepoint, SQLite 3.40 itself leaves headers that end the log.
    @Test(arguments: UInt64(0)..<6, AtRest.allCases)
    func `what was written before an undone part of a transaction stays`(
        seed: UInt64, atRest: AtRest
    ) throws {
        var played = try Played(atRest, seed: seed)
        for round in 0..<10 {
            try played.store.write { transaction in
                var (rows, dice) = (played.rows, played.dice)
                try Self.changes(80, &rows, transaction, &dice)
                try Self.append(2 + dice.roll(6), &rows, transaction, &dice)
                try transaction.execute("SAVEPOINT part")
                var undone = rows
                try Self.append(2 + dice.roll(20), &undone, transaction, &dice)
                try transaction.execute("ROLLBACK TO part")
                try transaction.execute("RELEASE part")
                try Self.append(1 + dice.roll(6), &rows, transaction, &dice)
                (played.rows, played.dice) = (rows, dice)
            }
            try played.expectAfterKill("round \(round)")
            #expect(try Self.read(played.store) == played.rows)
        }
    }

    /// A scan of all rows reads the last rows ahead. The test then changes those rows.
    @Test(arguments: AtRest.allCases)
    func `what was read ahead is read again where the log was moved over it`(
        atRest: AtRest
    ) throws {
        let played = try Played(atRest)
        let store = played.store
        var rows: Rows = [:]
        for round in 0..<5 {
            let changed = Int64(round == 0 ? 0 : 560)..<600
            try store.write { transaction in
                for id in changed {
                    rows[id] = [UInt8](repeating: UInt8((Int(id) + round) % 256), count: 3_000)
                    try transaction.execute(
                        "INSERT OR REPLACE INTO row (id, data) VALUES (?, ?)", [.integer(id)],
                        last: rows[id]!)
                }
            }
            store.moveLog()
            // Until the log restarts, SQLite reads its frames.
            try store.write { try $0.execute("UPDATE row SET id = id WHERE id = 0") }
            for id in changed.reversed() {
                let found = try store.read {
                    try $0.rows("SELECT data FROM row WHERE id = ?", [.integer(id)])
                }
                #expect(try found.map { try $0.blob(0) } == [rows[id]!])
            }
            #expect(try Self.read(store) == rows)
        }
    }

    @Test(arguments: AtRest.allCases)
    func `what was appended to a log is seen without the key`(atRest: AtRest) throws {
        var played = try Played(atRest)
        for _ in 0..<20 {
            let copy = try played.copy()
            #expect(!copy.isOutdated)
            try played.store.write { transaction in
                let count = 1 + played.dice.roll(40)
                try Self.changes(count, &played.rows, transaction, &played.dice)
            }
            #expect(copy.isOutdated)
        }
    }
}
