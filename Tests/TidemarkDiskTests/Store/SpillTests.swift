import Foundation
import Testing
import TidemarkModel
import TidemarkStore

/// Checks a transaction that is larger than SQLite's cache: it writes some pages to the log before
/// it ends, and a kill leaves those pages in the log.
struct SpillTests {
    private struct Killed: Error {}

    private static let database = try! DatabaseID(project: "disk")

    private func document(_ number: Int, _ round: Int, _ dice: inout Dice) -> StoredDocument {
        let fields: MapValue = [
            "n": .integer(Int64(round)),
            "text": .bytes([UInt8](repeating: UInt8(round), count: dice.roll(6_000))),
        ]
        let time = Timestamp(microseconds: Int64(round))
        return StoredDocument(
            path: DocumentPath(unchecked: "rooms/r\(number)"), kind: .found,
            contents: EncodedFields(fields), createTime: time, updateTime: time, readTime: time)
    }

    private func put(
        _ count: Int, round: Int, _ transaction: StoreTransaction, _ dice: inout Dice
    ) throws {
        let table = transaction.documents(of: Self.database)
        for _ in 0..<count { try table.put(document(dice.roll(400), round, &dice)) }
    }

    @Test(arguments: UInt64(0)..<10, AtRest.allCases)
    func `a kill in a transaction leaves nothing of it`(seed: UInt64, atRest: AtRest) throws {
        var dice = Dice(seed: seed)
        let disk = try LossyDisk(seed: seed)
        let path = disk.path("store.sqlite")
        var spilled = 0
        try LossyDisk.mounted {
            for round in 1...3 {
                let tuning = DocumentStore.Tuning(cacheKibibytes: 40)
                let store = try DocumentStore(.file(path), tuning: tuning, key: atRest.key)
                if round == 1 {
                    try store.write { transaction in
                        let index = IndexDefinition(
                            collectionID: "rooms", fields: [.init(FieldPath(name: "n"))])
                        try transaction.documents(of: Self.database).declareIndex(index)
                    }
                }
                for _ in 0..<dice.roll(3) {
                    try store.write { try put(20, round: round, $0, &dice) }
                }
                let before = try StoreInspection(store: store).rows()
                let log = try size(path + "-wal")
                #expect(throws: Killed.self) {
                    try store.write { transaction in
                        try put(300, round: round + 100, transaction, &dice)
                        // From this point, no change reaches the disk.
                        disk.fail(after: 0)
                        throw Killed()
                    }
                }
                spilled += try size(path + "-wal") - log
                try? store.close()
                disk.restartAfterKill()
                let after = try DocumentStore(.file(path), key: atRest.key)
                #expect(try StoreInspection(store: after).rows() == before)
                try StoreInspection(store: after).check()
                try after.close()
            }
        }
        #expect(spilled > 500_000, "\(spilled) bytes in the log before the end")
    }

    private func size(_ path: String) throws -> Int {
        guard FileManager.default.fileExists(atPath: path) else { return 0 }
        return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }
}
