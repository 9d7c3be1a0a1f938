import Foundation
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkServer
@testable import TidemarkSync

/// Opens a new file, or a file of an older schema, while the power fails at one of the writes that
/// migrate the schema.
struct SchemaStepTests {
    private static let database = try! DatabaseID(project: "disk")
    private static let documents = 30
    /// The interval between the changes at which the power fails. With many seeds, it fails at
    /// every change.
    private static let stride = DiskSeeds.all.count > 1_000 ? 1 : 5

    private static let mutations = [
        Mutation(path: DocumentPath(unchecked: "rooms/w"), .set(["n": .integer(1)]))
    ]

    private func contents(_ number: Int) -> EncodedFields {
        EncodedFields([
            "n": .integer(Int64(number)),
            "text": .string(String(repeating: "text", count: 300)),
        ])
    }

    /// Makes a file of an earlier version, with documents and pending writes.
    private func makeOld(_ migrations: [StoreMigration], at path: String) throws {
        let store = try DocumentStore(.file(path), migrations: migrations)
        try store.write { transaction in
            // The table of migrations used to have another name.
            try transaction.execute("ALTER TABLE migration RENAME TO grdb_migrations")
            try transaction.execute(
                "ALTER TABLE grdb_migrations RENAME COLUMN name TO identifier")
            let table = transaction.documents(of: Self.database)
            try table.declareIndex(
                IndexDefinition(collectionID: "rooms", fields: [.init(FieldPath(name: "n"))]))
            for number in 0..<Self.documents {
                let time = Timestamp(microseconds: 1)
                try table.put(
                    StoredDocument(
                        path: DocumentPath(unchecked: "rooms/r\(number)"), kind: .found,
                        contents: contents(number), createTime: time, updateTime: time,
                        readTime: time))
            }
            guard migrations.contains(where: { $0.name.hasPrefix("sync") }) else { return }
            // Since this step, a batch names its user.
            let isOwned = migrations.contains { $0.name == "sync 7 batch numbers" }
            for number in 1...5 {
                try transaction.execute(
                    """
                    INSERT INTO syncBatch
                        (id, localWriteTime, baseMutations, mutations\(isOwned ? ", user" : ""))
                    VALUES (?, 1, ?, ?\(isOwned ? ", X''" : ""))
                    """,
                    [.integer(Int64(number)), .blob(MutationCodec.encode([]))],
                    last: MutationCodec.encode(Self.mutations))
            }
        }
        try store.close()
    }

    /// Opens the file with a power failure after `changes` disk changes, and then opens it again.
    ///
    /// - Returns: The number of changes until the file was open or the power failed.
    private func cut(
        _ old: Data?, after changes: Int, _ open: (String) throws -> DocumentStore,
        _ check: (String) throws -> Void
    ) throws -> Int {
        let disk = try LossyDisk(seed: UInt64(changes))
        let path = disk.path("store.sqlite")
        if let old { try old.write(to: URL(fileURLWithPath: path)) }
        return try LossyDisk.mounted {
            disk.fail(after: changes)
            let opened = try? open(path)
            let count = disk.changes
            // The power fails now at the latest.
            if !disk.isOff { disk.fail(after: 0) }
            try? opened?.close()
            if changes.isMultiple(of: 3) {
                disk.restartAfterKill()
            } else {
                try disk.restartAfterPowerLoss()
            }
            let store = try open(path)
            try StoreInspection(store: store).check()
            if old != nil {
                try store.read { transaction in
                    let table = transaction.documents(of: Self.database)
                    for number in 0..<Self.documents {
                        let path = DocumentPath(unchecked: "rooms/r\(number)")
                        let held = try table.document(at: path)?.contents
                        #expect(held == contents(number))
                    }
                }
            }
            try store.close()
            try check(path)
            return count
        }
    }

    private func cutEverywhere(
        _ old: Data?, _ open: (String) throws -> DocumentStore,
        _ check: (String) throws -> Void = { _ in }
    ) throws {
        let all = try cut(old, after: .max, open, check)
        // A file with today's schema needs few changes. The test then tries each of them.
        #expect(all > 3)
        for changes in Swift.stride(from: 0, to: all, by: all < 10 ? 1 : Self.stride) {
            do { _ = try cut(old, after: changes, open, check) } catch {
                Issue.record("cut after \(changes) of \(all): \(error)")
            }
        }
    }

    private func old(_ migrations: [StoreMigration]) throws -> Data {
        let disk = try LossyDisk(seed: 0)
        try makeOld(migrations, at: disk.path("store.sqlite"))
        return try Data(contentsOf: URL(fileURLWithPath: disk.path("store.sqlite")))
    }

    @Test(arguments: 0..<LocalSchema.migrations.count)
    func `a client's file opens afterwards, with its writes`(steps: Int) throws {
        let old = try old(Array(LocalSchema.migrations.prefix(steps)))
        try cutEverywhere(old) {
            try DocumentStore(.file($0), migrations: LocalSchema.migrations)
        } _: { path in
            let store = try LocalStore(.file(path), database: Self.database)
            let due = steps > 0 ? Array(repeating: Self.mutations, count: 5) : []
            #expect(store.queue.pending.batches.map(\.mutations) == due)
            try store.store.close()
        }
    }

    @Test(arguments: 0..<ServerSchema.migrations.count)
    func `a server's file opens afterwards`(steps: Int) throws {
        let old = try old(Array(ServerSchema.migrations.prefix(steps)))
        try cutEverywhere(old) {
            try DocumentStore(.file($0), migrations: ServerSchema.migrations)
        }
    }

    @Test(arguments: AtRest.allCases)
    func `a file that is being made opens afterwards`(atRest: AtRest) throws {
        try cutEverywhere(nil) {
            try DocumentStore(.file($0), migrations: LocalSchema.migrations, key: atRest.key)
        }
    }
}
