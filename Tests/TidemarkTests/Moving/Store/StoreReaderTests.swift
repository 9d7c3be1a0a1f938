import Foundation
import Testing
import TestSupport
import TidemarkModel
import TidemarkTestKit

@testable import Tidemark

/// Tests that the reader of a cache finds what a writer of its own has written.
///
/// `TIDEMARK_STORE_SEEDS=17` reads the store of one seed, `0..<5000` reads more.
struct `A reader of FirebaseFirestore's cache` {
    private typealias Rows = [[UInt8]: [UInt8]]

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A written store, and its rows after each record.
    private struct Made {
        var states: [Rows] = [[:]]
        /// The number of the state that is in tables.
        var flushed = 0
        var folder: URL
        var rows: Rows { states[states.count - 1] }
    }

    private static let prefix = StoreKey.documents

    private func key(_ random: inout SeededRandom) -> [UInt8] {
        let ids = ["a", "b\0c", "d\u{ff}", "rooms", "long" + String(repeating: "x", count: 90)]
        let depth = Int.random(in: 1...2, using: &random)
        let path = (0..<depth).map { _ in
            ids.randomElement(using: &random)! + "/" + "\(Int.random(in: 0..<40, using: &random))"
        }
        return TestKey.document(path.joined(separator: "/"))
    }

    private func made(_ seed: UInt64, name: String = "") throws -> Made {
        var random = SeededRandom(seed: seed)
        let url = URL(fileURLWithPath: folder.path).appendingPathComponent("\(seed)\(name)")
        var made = Made(folder: url)
        var store = try WrittenStore(url)
        let blockSize = [64, 500, 4_096].randomElement(using: &random)!
        for _ in 0..<Int.random(in: 1...60, using: &random) {
            var rows = made.rows
            var changes: [WrittenStore.Change] = []
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                let key = key(&random)
                let isRemoved = Int.random(in: 0..<4, using: &random) == 0
                let size = Int.random(
                    in: 0..<[3, 300, 9_000].randomElement(using: &random)!, using: &random)
                let value =
                    isRemoved
                    ? nil
                    : [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: size)
                changes.append(WrittenStore.Change(key: key, value: value))
                rows[key] = value
            }
            // Rows of other tables around it.
            changes.append(WrittenStore.Change(key: TestKey.table("mutation") + [7], value: [1]))
            changes.append(WrittenStore.Change(key: TestKey.table("target") + [7], value: nil))
            store.write(changes)
            made.states.append(rows)
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1:
                try store.flush(blockSize: blockSize)
                made.flushed = made.states.count - 1
            case 2:
                try store.compact(
                    to: Int.random(in: 1...3, using: &random), tableSize: 2_000,
                    blockSize: blockSize)
            default: break
            }
        }
        try store.finish()
        return made
    }

    private func read(_ url: URL) throws -> (reader: StoreReader, rows: Rows) {
        let reader = try StoreReader(url, under: [Self.prefix])
        var cursor = reader.cursor(under: Self.prefix)
        var rows: Rows = [:]
        var last: [UInt8]?
        while let (key, value) = try cursor.next() {
            if let last { #expect(last.lexicographicallyPrecedes(key), "in order") }
            last = key
            rows[key] = value
        }
        return (reader, rows)
    }

    @Test(arguments: SeedRange("TIDEMARK_STORE_SEEDS", 0..<200).all)
    func `finds the newest value of every key, in order`(seed: UInt64) throws {
        let made = try made(seed)
        let (reader, rows) = try read(made.folder)
        #expect(rows == made.rows)
        #expect(reader.damage.isNone && !reader.hasTornEnd)
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            let key = key(&random)
            #expect(try reader.value(of: key) == made.rows[key])
            var cursor = reader.cursor(under: Self.prefix, from: key)
            let next = try cursor.next()?.key
            let expected = made.rows.keys.filter { !$0.lexicographicallyPrecedes(key) }
                .min { $0.lexicographicallyPrecedes($1) }
            #expect(next == expected)
        }
    }

    /// A cut of the log leaves the state after one of its records.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func `reads a torn store as it was earlier`(seed: UInt64) throws {
        let made = try made(seed)
        var random = SeededRandom(seed: seed)
        let log = try #require(try files(in: made.folder).first { $0.key.hasSuffix(".log") })
        if log.value.isEmpty { return }
        let kept = Int.random(in: 0..<log.value.count, using: &random)
        try log.value.prefix(kept).write(to: made.folder.appendingPathComponent(log.key))
        let (reader, rows) = try read(made.folder)
        #expect(reader.damage.isNone)
        #expect(made.states[made.flushed...].contains(rows), "kept \(kept)")
    }

    /// Whatever is damaged: each key that is read with another value is one of which the reader
    /// says that nothing is certain.
    @Test func `knows about which keys nothing is certain`() throws {
        var (damaged, refused, whole) = (0, 0, 0)
        for seed in 0..<200 as Range<UInt64> {
            let made = try made(seed, name: "damaged")
            var random = SeededRandom(seed: seed &* 31)
            let all = try files(in: made.folder).filter { $0.key != "CURRENT" }
            let (name, data) = all.sorted { $0.key < $1.key }.randomElement(using: &random)!
            let url = made.folder.appendingPathComponent(name)
            if data.isEmpty { continue }
            if Int.random(in: 0..<6, using: &random) == 0 {
                try FileManager.default.removeItem(at: url)
            } else {
                var data = data
                let place = Int.random(in: 0..<data.count, using: &random)
                data[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                try data.write(to: url)
            }
            do {
                let (reader, rows) = try read(made.folder)
                for key in Set(rows.keys).union(made.rows.keys) where rows[key] != made.rows[key] {
                    #expect(
                        reader.damage.mayHide(key) || reader.hasTornEnd, "seed \(seed) \(name)")
                    #expect(reader.damage.mayHideKeys(under: Self.prefix) || reader.hasTornEnd)
                }
                if reader.damage.isNone { whole += 1 } else { damaged += 1 }
            } catch is FirebaseStoreError { refused += 1 }
        }
        #expect(damaged > 100 && refused > 10, "\(damaged) \(refused) \(whole)")
    }

    /// The first result of a listen is one record of a log.
    @Test func `reads a record of any size`() throws {
        let url = URL(fileURLWithPath: folder.path).appendingPathComponent("huge")
        var store = try WrittenStore(url)
        let keys = (0..<70).map { TestKey.document("rooms/\($0 + 100)") }
        let value = [UInt8](repeating: 7, count: 500_000)
        let mutation =
            TestKey.table("mutation")
            + [0x8D] + TestKey.text("ann") + [0x8A, 0x81, 0x80]
        store.write(keys.map { WrittenStore.Change(key: $0, value: value) })
        store.write([WrittenStore.Change(key: mutation, value: [1, 2, 3])])
        try store.finish()
        let (reader, rows) = try read(url)
        #expect(reader.damage.isNone && rows.count == 70)
        #expect(rows.values.allSatisfy { $0 == value })
        let writes = try StoreFolder(url).rows(under: [StoreKey.mutations]).rows
        #expect(writes.present.map(\.value) == [[1, 2, 3]])
    }

    /// LevelDB itself has written the store.
    @Test func `reads what LevelDB wrote on several levels`() throws {
        let folder = MadeStore.root.appendingPathComponent("cache")
        let data = try Data(contentsOf: MadeStore.root.appendingPathComponent("cache.json"))
        let expected = try JSONDecoder().decode([String: Int64].self, from: data)
        let (reader, rows) = try read(folder)
        #expect(reader.damage.isNone && !reader.hasTornEnd)
        #expect(Set(rows.keys) == Set(expected.keys.map(TestKey.document)))
        for (path, round) in expected {
            let row = try CachedRow(try #require(rows[TestKey.document(path)]))
            guard case .found(let fields) = row.contents else {
                Issue.record("\(path) has no fields")
                continue
            }
            #expect(fields.decoded["round"] == .integer(round), "\(path)")
        }
        let targets = try StoreReader(folder, under: [StoreKey.targetDocuments])
        var cursor = targets.cursor(under: StoreKey.documents(ofTarget: 70))
        var paths: Set<String> = []
        while let (key, _) = try cursor.next() {
            paths.insert(try #require(StoreKey.targetDocument(key)).path)
        }
        #expect(paths == Set(expected.keys))
    }

    @Test func `changes its digest with its files`() throws {
        let made = try made(3)
        let before = try read(made.folder).reader.digest
        #expect(try read(made.folder).reader.digest == before)
        let log = try #require(try files(in: made.folder).first { $0.key.hasSuffix(".log") })
        try (log.value + [0]).write(to: made.folder.appendingPathComponent(log.key))
        #expect(try StoreReader(made.folder, under: []).digest != before)
    }
}
