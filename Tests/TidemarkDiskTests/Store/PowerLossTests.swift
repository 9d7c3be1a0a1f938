import Foundation
import Testing
import TidemarkModel
import TidemarkStore

/// Checks that synced data survives a loss of power at any moment. Other transactions survive in
/// order: the store has one of its states since the last sync.
struct PowerLossTests {
    private static let database = try! DatabaseID(project: "disk")
    private static let documents = 60

    /// The value of `n` in each document, by the document's number.
    fileprivate typealias Rows = [Int: Int64]

    fileprivate struct Workload {
        let disk: LossyDisk
        let atRest: AtRest
        var dice: Dice
        /// The states since the last sync, oldest first. The first is the state at that sync.
        var states: [Rows] = [[:]]
        var losses = 0
        /// The number of losses after which some written data was missing.
        var forgot = 0

        init(seed: UInt64, _ atRest: AtRest) throws {
            self.atRest = atRest
            disk = try LossyDisk(seed: seed)
            dice = Dice(seed: seed)
        }

        mutating func open() throws -> DocumentStore {
            let tuning = DocumentStore.Tuning(cacheKibibytes: dice.chance(30) ? 40 : 400)
            return try DocumentStore(
                .file(disk.path("store.sqlite")), tuning: tuning, key: atRest.key)
        }
    }

    @Test(arguments: DiskSeeds.shares, AtRest.allCases)
    func `what was synced survives, and the rest by transactions`(
        share: Range<UInt64>, atRest: AtRest
    ) throws {
        var (losses, forgot) = (0, 0)
        for seed in share {
            do {
                let played = try Self.play(seed, atRest, defect: nil)
                losses += played.losses
                forgot += played.forgot
            } catch { Issue.record("TIDEMARK_DISK_SEEDS=\(seed): \(error)") }
        }
        #expect(losses == 4 * share.count)
        if share.count >= 50 { #expect(forgot > share.count / 4, "\(forgot) of \(losses)") }
    }

    @Test(arguments: [DiskDefect.syncsNothing, .keepsLastPieceBack], AtRest.allCases)
    func `a disk that lies is found`(defect: DiskDefect, atRest: AtRest) {
        let found = (UInt64(0)..<50).filter { seed in
            do {
                _ = try Self.play(seed, atRest, defect: defect)
                return false
            } catch { return true }
        }
        #expect(found.count > 5, "found by \(found)")
    }

    private static func play(
        _ seed: UInt64, _ atRest: AtRest, defect: DiskDefect?
    ) throws -> (losses: Int, forgot: Int) {
        var workload = try Workload(seed: seed, atRest)
        try LossyDisk.mounted {
            try workload.make(in: database)
            workload.disk.defect = defect
            for _ in 0..<4 { try workload.round(in: database, documents) }
        }
        return (workload.losses, workload.forgot)
    }
}

extension PowerLossTests.Workload {
    /// Creates the file, with an index, and syncs it.
    mutating func make(in database: DatabaseID) throws {
        let store = try open()
        try store.write(.disk) { transaction in
            let index = IndexDefinition(
                collectionID: "rooms", fields: [.init(FieldPath(name: "n"))])
            try transaction.documents(of: database).declareIndex(index)
        }
        try store.close()
    }

    /// Runs transactions until the power fails, and checks the state afterwards.
    mutating func round(in database: DatabaseID, _ documents: Int) throws {
        let store = try open()
        disk.fail(after: dice.roll(150))
        for number in 0..<40 {
            guard write(store, Int64(losses * 100 + number), database, documents) else { break }
        }
        disk.fail(after: 0)
        try? store.close()
        try disk.restartAfterPowerLoss()
        losses += 1
        try look(in: database, documents)
    }

    /// - Returns: True if the disk still works.
    private mutating func write(
        _ store: DocumentStore, _ number: Int64, _ database: DatabaseID, _ documents: Int
    ) -> Bool {
        let isSynced = dice.chance(30)
        var rows = states.last!
        // A transaction without a change writes no commit to the log, and syncs no earlier
        // transaction.
        var isEmpty = true
        do {
            try store.write(isSynced ? .disk : .process) { transaction in
                let table = transaction.documents(of: database)
                for _ in 0..<(1 + dice.roll(12)) {
                    let id = dice.roll(documents)
                    if dice.chance(20) {
                        if rows[id] != nil { isEmpty = false }
                        rows[id] = nil
                        try table.remove(Self.path(id))
                    } else {
                        isEmpty = false
                        rows[id] = number
                        try table.put(document(id, number))
                    }
                }
            }
        } catch {
            // The transaction may have reached the disk before the error.
            states.append(rows)
            return false
        }
        states = isSynced && !isEmpty ? [rows] : states + [rows]
        return true
    }

    private mutating func look(in database: DatabaseID, _ documents: Int) throws {
        let store = try open()
        var found: [Int: Int64] = [:]
        try store.read { transaction in
            let table = transaction.documents(of: database)
            for id in 0..<documents {
                guard let stored = try table.document(at: Self.path(id)) else { continue }
                guard case .integer(let number)? = stored.contents.decoded["n"] else {
                    throw DiskViolation("document \(id) has no number")
                }
                found[id] = number
            }
        }
        guard let place = states.lastIndex(of: found) else {
            throw DiskViolation(
                "after loss \(losses) the store is none of the \(states.count) since its last sync")
        }
        try StoreInspection(store: store).check()
        try store.close()
        if place < states.count - 1 { forgot += 1 }
        states = [found]
    }

    private static func path(_ id: Int) -> DocumentPath {
        DocumentPath(unchecked: "rooms/r\(id)")
    }

    private mutating func document(_ id: Int, _ number: Int64) -> StoredDocument {
        let fields: MapValue = [
            "n": .integer(number),
            "text": .bytes([UInt8](repeating: UInt8(id), count: dice.roll(3_000))),
        ]
        let time = Timestamp(microseconds: number)
        return StoredDocument(
            path: Self.path(id), kind: .found, contents: EncodedFields(fields),
            createTime: time, updateTime: time, readTime: time)
    }
}
