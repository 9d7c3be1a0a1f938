import Foundation
import TidemarkModel
import TidemarkStore

@testable import TidemarkSync

/// Runs a client's store on a disk that fails at a random moment, and the same store on a healthy
/// disk. The healthy store shows the rows after each transaction.
///
/// After the failure, the store holds the rows that it held after one of its transactions. It holds
/// no transaction in part, and none without the transactions before. It holds every transaction
/// that was promised to survive.
final class ClientWorkload {
    /// Counts the events of the rounds, so a test can check that the events occurred.
    struct Tally {
        var rounds = 0
        /// The rounds that lost a change without a promise.
        var losses = 0
        /// The rounds that ended inside a transaction.
        var cuts = 0
        /// The rounds that ended before the log was moved into the file.
        var logs = 0
    }

    private let disk: LossyDisk
    private let atRest: AtRest
    private let healthy: URL
    private var dice: Dice
    private let defect: DiskDefect?
    /// Treats every act as promised.
    private let promisesAll: Bool
    private(set) var tally = Tally()
    private var step: Int64 = 0
    /// The batches in the queue by number, as the app knows them.
    private var told: [Int64: [Mutation]] = [:]

    private static let database = try! DatabaseID(project: "disk")
    private static let rounds = 3
    private static let acts = 40
    /// Forty acts make about as many changes.
    private static let mostChanges = 150

    init(
        seed: UInt64, _ atRest: AtRest = .plain, defect: DiskDefect? = nil,
        promisesAll: Bool = false
    ) throws {
        self.atRest = atRest
        disk = try LossyDisk(seed: seed &+ 1)
        dice = Dice(seed: seed)
        self.defect = defect
        self.promisesAll = promisesAll
        healthy = URL(fileURLWithPath: disk.folder).appendingPathComponent("healthy")
        try FileManager.default.createDirectory(at: healthy, withIntermediateDirectories: true)
        try Self.templates[atRest]!.get().write(to: URL(fileURLWithPath: disk.path("cache.sqlite")))
    }

    /// - Throws: ``DiskViolation`` if the store breaks a rule.
    func run() throws {
        try LossyDisk.mounted {
            for _ in 0..<Self.rounds { try round() }
            _ = try open()
        }
    }

    // MARK: One life

    private struct Life {
        var states: [StoreInspection.Rows] = []
        /// The first of ``states`` that a loss of power may leave, and the last state whose act has
        /// returned.
        var (promised, returned) = (0, 0)
        var target: Int32 = 0
    }

    private func round() throws {
        let twin = try makeTwin()
        var store: LocalStore? = try open()
        var life = Life()
        life.states = [try rows(twin)]
        life.target = try listen(twin)
        _ = try listen(store!)
        if dice.chance(30) { try shrinkMemory(of: store!) }
        life.states.append(try rows(twin))
        life.returned = 1
        disk.defect = defect
        disk.fail(after: 1 + dice.roll(Self.mostChanges))
        for _ in 0..<Self.acts where !disk.isOff { try act(store!, twin, &life) }
        tally.rounds += 1
        tally.cuts += disk.isOff ? 1 : 0
        // A kill keeps the changes of every act that has returned.
        let isKill = dice.chance(25)
        disk.defect = nil
        if !disk.isOff { disk.fail(after: 0) }
        try? store?.store.close()
        store = nil
        let log = try? FileManager.default.attributesOfItem(
            atPath: disk.path("cache.sqlite-wal"))
        tally.logs += (log?[.size] as? Int ?? 0) > 32 ? 1 : 0
        if isKill {
            disk.restartAfterKill()
            life.promised = life.returned
        } else {
            try disk.restartAfterPowerLoss()
        }
        try check(life)
    }

    private func act(_ store: LocalStore, _ twin: LocalStore, _ life: inout Life) throws {
        step += 1
        var act = ClientAction.random(step, &dice)
        // If the log is moved without syncs, the file is damaged, and not only older.
        if case .moveLog = act, defect != nil { act = .read(Query(collectionID: "rooms")) }
        let batch = twin.queue.pending.batches.first
        try act.perform(on: twin, target: life.target, step: step)
        life.states.append(try rows(twin))
        do {
            try act.perform(on: store, target: life.target, step: step)
        } catch {
            guard disk.isOff else { throw DiskViolation("\(act) failed by itself: \(error)") }
            // The act may have reached the disk although it threw.
            if case .acknowledge = act, let batch { told[batch.id] = nil }
            if case .reject = act, let batch { told[batch.id] = nil }
            return
        }
        switch act {
        case .enqueue(let mutations): told[twin.queue.pending.batches.last!.id] = mutations
        case .acknowledge, .reject: if let batch { told[batch.id] = nil }
        default: break
        }
        life.returned = life.states.count - 1
        // An act without a change, such as a rejection with an empty queue, has no transaction to
        // sync.
        let isChange = life.states.suffix(2).first != life.states.last
        if isChange, act.isPromised || promisesAll { life.promised = life.returned }
    }

    private func check(_ life: Life) throws {
        let store: LocalStore
        do { store = try open() } catch { throw DiskViolation("it does not open: \(error)") }
        let found = try rows(store)
        guard let state = life.states.lastIndex(of: found) else {
            throw DiskViolation("a state that never was: \(differences(found, life))")
        }
        if state < life.promised {
            throw DiskViolation("state \(state) of \(life.states.count) after \(life.promised)")
        }
        if state < life.states.count - 1 { tally.losses += 1 }
        for (id, mutations) in told {
            let kept = store.queue.pending.batches.first { $0.id == id }
            if kept?.mutations != mutations { throw DiskViolation("batch \(id) is lost") }
        }
        try StoreInspection(store: store.store).check()
        // Batches that were reported as removed may have returned. The queue now lists them.
        told = Dictionary(
            uniqueKeysWithValues: store.queue.pending.batches.map { ($0.id, $0.mutations) })
        try store.store.close()
    }

    private func differences(_ found: StoreInspection.Rows, _ life: Life) -> String {
        let nearest = life.states[life.promised]
        return found.keys.sorted().compactMap { name in
            let (here, there) = (Set(found[name] ?? []), Set(nearest[name] ?? []))
            if here == there { return nil }
            return "\(name): \(here.subtracting(there).count) more, "
                + "\(there.subtracting(here).count) less"
        }.joined(separator: "; ")
    }

    // MARK: Stores

    private func open() throws -> LocalStore {
        try LocalStore(
            .file(disk.path("cache.sqlite")), database: Self.database, key: atRest.key)
    }

    private func makeTwin() throws -> LocalStore {
        let path = healthy.appendingPathComponent("cache.sqlite").path
        try DocumentStore.erase(path)
        for ending in ["", "-wal"] {
            let original = disk.path("cache.sqlite" + ending)
            if FileManager.default.fileExists(atPath: original) {
                try FileManager.default.copyItem(atPath: original, toPath: path + ending)
            }
        }
        return try LocalStore(.file(path), database: Self.database, key: atRest.key)
    }

    private func listen(_ store: LocalStore) throws -> Int32 {
        try store.targets.reopen([Query(collectionID: "rooms")])[0].targetID
    }

    private func rows(_ store: LocalStore) throws -> StoreInspection.Rows {
        try StoreInspection(store: store.store).rows()
    }

    /// Makes the cache small, so SQLite writes pages to the log before their transaction ends.
    private func shrinkMemory(of store: LocalStore) throws {
        try store.store.read { _ = try $0.rows("PRAGMA cache_size = 10") }
    }

    private static let templates = Dictionary(
        uniqueKeysWithValues: AtRest.allCases.map { atRest in
            (atRest, Result { try makeTemplate(atRest) })
        })

    private static func makeTemplate(_ atRest: AtRest) throws -> Data {
        let disk = try LossyDisk(seed: 0)
        let path = disk.path("template.sqlite")
        let store = try LocalStore(.file(path), database: database, key: atRest.key)
        try store.store.write { transaction in
            let table = transaction.documents(of: database)
            let (n, g, tags) = (FieldPath(name: "n"), FieldPath(name: "g"), FieldPath(name: "tags"))
            for fields: [IndexDefinition.Field] in [
                [.init(n)], [.init(g), .init(n, .descending)], [.init(tags, .contains)],
            ] {
                try table.declareIndex(IndexDefinition(collectionID: "rooms", fields: fields))
            }
            try table.declareIndex(
                IndexDefinition(collectionID: "rooms", scope: .group, fields: [.init(g)]))
        }
        try store.close()
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }
}
