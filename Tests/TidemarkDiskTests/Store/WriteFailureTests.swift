import Foundation
import Testing
import TidemarkModel
import TidemarkStore

/// Lets some writes of the disk fail, after which the disk works again. A transaction either fails
/// or is stored, and a later move of the log repeats the failed writes.
struct WriteFailureTests {
    private typealias Rows = [Int64: [UInt8]]

    /// A store with a cache of fifty pages, for transactions of about 120 pages and moves of the
    /// log.
    private struct Played {
        var store: DocumentStore
        var rows: Rows = [:]
        var failedTransactions = 0

        init(_ path: String, _ atRest: AtRest) throws {
            let tuning = DocumentStore.Tuning(cacheKibibytes: 200)
            store = try DocumentStore(.file(path), tuning: tuning, key: atRest.key)
            try store.write {
                try $0.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, data BLOB NOT NULL)")
            }
        }

        mutating func change(_ round: Int) throws {
            var changed = rows
            do {
                try store.write { transaction in
                    for step in 0..<40 {
                        let id = Int64((step * 7 + round * 11) % 60)
                        changed[id] = [UInt8](
                            repeating: UInt8((round * 40 + step) % 251), count: 7_000 + step * 100)
                        try transaction.execute(
                            "INSERT OR REPLACE INTO row (id, data) VALUES (?, ?)",
                            [.integer(id)], last: changed[id]!)
                    }
                }
                rows = changed
            } catch is StoreError { failedTransactions += 1 }
        }

        func read(_ store: DocumentStore) throws -> Rows {
            let rows = try store.read { try $0.rows("SELECT id, data FROM row") }
            return try Rows(
                uniqueKeysWithValues: rows.map { (try $0.integer(0), try $0.blob(1)) })
        }
    }

    enum Part: CaseIterable { case transaction, move }

    @Test(arguments: Part.allCases, AtRest.allCases)
    func `whichever write fails, nothing that was committed is lost`(
        part: Part, atRest: AtRest
    ) throws {
        var (failures, failedTransactions) = (0, 0)
        try LossyDisk.mounted {
            let writes = try Self.play(part, atRest, failingAfter: 1_000, failsOn: false).writes
            for number in stride(from: 0, to: writes, by: max(1, writes / 20)) {
                for failsOn in [false, true] {
                    let played = try Self.play(
                        part, atRest, failingAfter: number, failsOn: failsOn)
                    failures += played.failedWrites > 0 ? 1 : 0
                    failedTransactions += played.failedTransactions
                }
            }
        }
        #expect(failures > 20)
        #expect(failedTransactions == (part == .transaction ? failures : 0))
    }

    /// - Parameters:
    ///   - count: The number of writes of a part before a write fails.
    ///   - failsOn: True if the later writes of the part fail too.
    /// - Returns: The number of writes before the failure, of failed writes, and of failed
    ///   transactions.
    private static func play(
        _ part: Part, _ atRest: AtRest, failingAfter count: Int, failsOn: Bool
    ) throws -> (writes: Int, failedWrites: Int, failedTransactions: Int) {
        let disk = try LossyDisk(seed: UInt64(count))
        let path = disk.path("store.sqlite")
        var played = try Played(path, atRest)
        for round in 0..<2 {
            try played.change(round)
            if round == 0 { played.store.moveLog() }
        }
        disk.failsOn = failsOn
        if part == .transaction { disk.writesBeforeFailure = count }
        try played.change(2)
        if part == .move {
            disk.writesBeforeFailure = count
            played.store.moveLog()
        }
        let writes = count - (disk.writesBeforeFailure ?? 0)
        disk.writesBeforeFailure = nil
        let killed = try StoreCopy(of: path)
        let copy = try DocumentStore(.file(killed.path), key: atRest.key)
        #expect(try played.read(copy) == played.rows, "write \(count), after a kill")
        #expect(try played.read(played.store) == played.rows, "write \(count)")
        // The next move does the rest of the failed move before the log restarts.
        try played.change(3)
        try played.store.close()
        let opened = try DocumentStore(.file(path), key: atRest.key)
        #expect(try played.read(opened) == played.rows, "write \(count), opened again")
        try opened.close()
        return (writes, disk.failedWrites, played.failedTransactions)
    }
}
