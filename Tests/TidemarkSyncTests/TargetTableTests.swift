import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkSync

/// The table writes some targets immediately. Others wait for the transaction of another operation.
struct TargetTableTests {
    private let key = QueryKey(Query(collectionID: "rooms"))

    private func used(_ table: TargetTable, _ change: (inout LocalTarget) -> Void = { _ in })
        -> Int32
    {
        var target = table.makeTarget(key)
        change(&target)
        let id = target.id
        table.take(target, stored: nil)
        return id
    }

    @Test func `a target of which nothing is known waits when it is released`() {
        let table = TargetTable()
        let id = used(table)
        #expect(table.inUse(key)?.id == id)
        #expect(table.release(id) == nil)
        #expect(table.isEmpty)
        #expect(table.released[id]?.isStored == false)
        #expect(!table.isSaved)
    }

    @Test func `a target of which something is known is written when it is released`() {
        let table = TargetTable()
        let id = used(table) { $0.resumeToken = [1] }
        let unsaved = table.release(id)
        #expect(unsaved?.resumeToken == [1])
        #expect(unsaved?.sequence == 2, "it was used last when it was released")
        #expect(table.released.isEmpty)
    }

    @Test func `no more than fifty targets wait`() {
        let table = TargetTable()
        for number in 0..<50 {
            let target = table.makeTarget(QueryKey(Query(collectionID: "c\(number)")))
            let id = target.id
            table.take(target, stored: nil)
            #expect(table.release(id) == nil)
        }
        #expect(table.release(used(table)) != nil)
        #expect(table.released.count == 50)
    }

    @Test func `one that is taken up again waits no more`() {
        let table = TargetTable()
        let id = used(table)
        _ = table.release(id)
        let kept = table.released[id]!
        table.take(kept.target, stored: kept)
        #expect(table.released.isEmpty)
        #expect(!table.isPersisted(id), "the disk has nothing of it")
    }

    @Test func `an undone transaction brings back who waits`() throws {
        let store = try DocumentStore(.memory, migrations: LocalSchema.migrations)
        let table = TargetTable()
        _ = table.release(used(table))
        let waiting = table.released
        try store.write { try table.saveReleased($0) }
        #expect(table.released.isEmpty)
        table.undo(released: waiting)
        #expect(table.released.mapValues(\.target) == waiting.mapValues(\.target))
    }

    @Test func `a snapshot's version is written unless a target says as much`() throws {
        let store = try DocumentStore(.memory, migrations: LocalSchema.migrations)
        let table = TargetTable()
        let id = used(table)
        func apply(_ version: Int64, token: [UInt8]) throws {
            var update = table.update(at: Timestamp(microseconds: version))
            try store.write { transaction in
                var target = table[id]!
                target.resumeToken = token
                target.snapshotVersion = Timestamp(microseconds: version)
                try table.add(
                    target, hasChanges: true, isLost: false, to: &update, transaction)
                try table.finish(&update, hasDocuments: true, transaction)
            }
            table.adopt(update)
        }
        func saved() throws -> Int64? {
            try store.read {
                try $0.rows("SELECT value FROM syncGlobal WHERE name = 'lastVersion'").first?
                    .integer(0)
            }
        }
        try apply(10, token: [1])
        #expect(try saved() == nil, "the target's row says it")
        #expect(table.lastVersion == Timestamp(microseconds: 10))
        try apply(20, token: [])
        #expect(try saved() == 20)
        try apply(15, token: [])
        #expect(table.lastVersion == Timestamp(microseconds: 20), "it never goes back")
    }
}
