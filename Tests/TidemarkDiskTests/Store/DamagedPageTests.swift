import Foundation
import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkSync

/// Damages one page or one bit of a cache. The cache reports an error, refuses to open, or starts a
/// new file. It never shows damaged data.
struct DamagedPageTests {
    static let database = try! DatabaseID(project: "disk")
    private static let page = 4_096

    static func document(_ number: Int) -> Document {
        let time = Timestamp(microseconds: Int64(number + 1))
        return Document(
            path: DocumentPath(unchecked: "rooms/r\(number + 100)"),
            fields: [
                "n": .integer(Int64(number)), "g": .integer(Int64(number % 7)),
                "text": .string(String(repeating: "é", count: 20 * (number % 40))),
            ], createTime: time, updateTime: time)
    }

    /// Flips a bit, or replaces a page with random bytes.
    static func damage(_ bytes: inout Data, _ dice: inout Dice) {
        if dice.chance(50) {
            bytes[dice.roll(bytes.count)] ^= 1 << UInt8(dice.roll(8))
            return
        }
        let start = dice.roll(bytes.count / page) * page
        for place in start..<start + page { bytes[place] = UInt8(dice.roll(256)) }
    }
}

extension DamagedPageTests {
    private static let documents = (0..<300).map(document)

    private static let file = Result<Data, any Error> {
        let disk = try LossyDisk(seed: 0)
        let path = disk.path("cache.sqlite")
        let store = try LocalStore(.file(path), database: database)
        _ = try store.remote.apply(
            documents.map { .found($0) }, readTime: Timestamp(microseconds: 1_000))
        try store.store.write { transaction in
            let table = transaction.documents(of: database)
            let fields = ["g", "n"].map { IndexDefinition.Field(FieldPath(name: $0)) }
            try table.declareIndex(IndexDefinition(collectionID: "rooms", fields: fields))
        }
        _ = try store.queue.enqueue(
            [Mutation(path: DocumentPath(unchecked: "queue/w"), .set(["n": .integer(1)]))],
            at: Timestamp(microseconds: 1))
        try store.close()
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private static let queries: [Query] = [
        Query(collectionID: "rooms"),
        Query(
            collectionID: "rooms", filter: .field(FieldPath(name: "g"), .equal, .integer(3)),
            orders: [Order(FieldPath(name: "n"))]),
    ]

    private struct Tally {
        var (refused, renewed, found, right) = (0, 0, 0, 0)
        var wrong: [String] = []
    }

    private func look(_ seed: UInt64, _ tally: inout Tally) throws {
        var dice = Dice(seed: seed)
        let disk = try LossyDisk(seed: seed)
        let path = disk.path("cache.sqlite")
        var bytes = try Self.file.get()
        Self.damage(&bytes, &dice)
        try bytes.write(to: URL(fileURLWithPath: path))
        let store: LocalStore
        do {
            store = try LocalStore.opening(
                .file(path), database: Self.database, user: nil, fault: nil)
        } catch {
            tally.refused += 1
            return
        }
        let isNew = FileManager.default.fileExists(atPath: path + ".damaged")
        if isNew { tally.renewed += 1 }
        var errors = 0
        for document in Self.documents {
            do {
                let held = try store.documents.document(at: document.path)
                if isNew, !held.isFound { continue }
                if held.viewDocument?.document != document {
                    tally.wrong.append("seed \(seed): \(document.path)")
                }
            } catch { errors += 1 }
        }
        for (place, query) in Self.queries.enumerated() {
            do {
                let rows = try store.documents.run(query)
                let due = Self.documents.filter { place == 0 || $0.fields["g"] == .integer(3) }
                let given = rows.compactMap(\.viewDocument?.document)
                if isNew ? !given.isEmpty : given != due {
                    tally.wrong.append("seed \(seed): query \(place)")
                }
            } catch { errors += 1 }
        }
        if errors > 0 { tally.found += 1 } else if !isNew { tally.right += 1 }
    }

    @Test func `a damaged page is never shown`() throws {
        var tally = Tally()
        for seed in UInt64(0)..<120 { try look(seed, &tally) }
        #expect(tally.wrong.isEmpty, "\(tally.wrong.count): \(tally.wrong.prefix(10))")
        // Both outcomes occur: errors of single reads, and a file that is refused or replaced by a
        // new file.
        #expect(tally.found > 10 && tally.renewed + tally.refused > 0)
    }

    @Test func `a value of another type in the cache's own tables is an error`() throws {
        let disk = try LossyDisk(seed: 0)
        let path = disk.path("cache.sqlite")
        let store = try LocalStore(.file(path), database: Self.database)
        try store.store.write { transaction in
            try transaction.execute("INSERT INTO syncGlobal VALUES (x'FF', 1)")
        }
        try store.close()
        let error = #expect(throws: StoreError.self) {
            try LocalStore(.file(path), database: Self.database)
        }
        #expect(error?.recovery == .rebuild)
        // An app does the same: the damaged file is renamed, and a new file replaces it.
        let renewed = try LocalStore.opening(
            .file(path), database: Self.database, user: nil, fault: nil)
        #expect(try renewed.documents.document(at: Self.documents[0].path).isFound == false)
        #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
    }
}
