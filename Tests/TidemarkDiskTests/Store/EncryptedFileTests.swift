import Foundation
import Testing
import TidemarkModel
import TidemarkTesting

@testable import TidemarkStore
@testable import TidemarkSync

/// Checks that the files of an encrypted client contain no text that a user wrote.
struct EncryptedFileTests {
    private static let database = try! DatabaseID(project: "disk")

    /// The texts that are written and then searched for: ids, field names, values and pending
    /// writes.
    private struct Texts {
        var collection: String
        var documents: [(id: String, field: String, value: String)] = []
        var waiting: [(id: String, value: String)] = []

        init(_ dice: inout Dice) {
            func word(_ alphabet: String, _ length: Int) -> String {
                let letters = Array(alphabet)
                return String((0..<length).map { _ in dice.pick(letters) })
            }
            let latin = "abcdefghijklmnopqrstuvwxyz0123456789"
            collection = "c" + word(latin, 23)
            for number in 0..<120 {
                let alphabet = number % 3 == 0 ? "äöüßéèñžščøæ漢字かな🌊🐚🦀" : latin
                documents.append(
                    (
                        "d" + word(latin, 23), "f" + word(latin, 23),
                        word(alphabet, [24, 60, 5_000][number % 3])
                    ))
            }
            for number in 0..<20 {
                waiting.append(("w" + word(latin, 23), word(latin, number == 7 ? 9_000 : 30)))
            }
        }

        /// The first bytes of each text. The file splits a long text into pieces.
        var all: [Data] {
            let texts =
                [collection] + documents.flatMap { [$0.id, $0.field, $0.value] }
                + waiting.flatMap { [$0.id, $0.value] }
            return texts.map { Data($0.utf8.prefix(24)) }
        }
    }

    private func write(_ texts: Texts, to store: LocalStore) throws {
        let documents = texts.documents.enumerated().map { number, text in
            let time = Timestamp(microseconds: Int64(number + 1))
            return RemoteDocument.found(
                Document(
                    path: DocumentPath(unchecked: texts.collection + "/" + text.id),
                    fields: [text.field: .string(text.value), "n": .integer(1)],
                    createTime: time, updateTime: time))
        }
        _ = try store.remote.apply(documents, readTime: Timestamp(microseconds: 1_000))
        for text in texts.waiting {
            _ = try store.queue.enqueue(
                [
                    Mutation(
                        path: DocumentPath(unchecked: texts.collection + "/" + text.id),
                        .set(["text": .string(text.value)]))
                ], at: Timestamp(microseconds: 1))
        }
        try store.store.write { transaction in
            let table = transaction.documents(of: Self.database)
            for text in texts.documents.prefix(4) {
                let field = FieldPath(name: text.field)
                try table.declareIndex(
                    IndexDefinition(collectionID: texts.collection, fields: [.init(field)]))
            }
        }
        // This transaction writes pages to the log before it ends, and is rolled back.
        struct Undone: Error {}
        try? store.store.write { transaction in
            _ = try transaction.rows("PRAGMA cache_size = 10")
            try transaction.execute("UPDATE document SET readTime = readTime + 1")
            throw Undone()
        }
    }

    /// Returns the number of texts that any file of the folder contains.
    private func found(_ texts: Texts, in folder: String) throws -> Int {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
        let files = try names.map { try Data(contentsOf: URL(fileURLWithPath: folder + "/" + $0)) }
        return texts.all.count { text in files.contains { $0.range(of: text) != nil } }
    }

    @Test(arguments: UInt64(0)..<3, AtRest.allCases)
    func `no text is found, in the file, in the log, or after a change of the key`(
        seed: UInt64, atRest: AtRest
    ) throws {
        var dice = Dice(seed: seed)
        let texts = Texts(&dice)
        let disk = try LossyDisk(seed: seed)
        let path = disk.path("cache.sqlite")
        let store = try LocalStore(.file(path), database: Self.database, key: atRest.key)
        try write(texts, to: store)
        // The first check sees the files and the log as after a kill. The next checks follow a move
        // of the log, and the close.
        let due = atRest == .plain ? texts.all.count : 0
        #expect(try found(texts, in: disk.folder) == due)
        store.store.moveLog()
        try store.store.write { try $0.execute("UPDATE document SET readTime = readTime + 1") }
        #expect(try found(texts, in: disk.folder) == due)
        try store.close()
        #expect(try found(texts, in: disk.folder) == due)
        try DocumentStore.changeKey(
            of: path, migrations: LocalSchema.migrations, from: atRest.key,
            to: AtRest.encrypted.key!)
        #expect(try found(texts, in: disk.folder) == 0)
        let again = try LocalStore(.file(path), database: Self.database, key: AtRest.encrypted.key)
        #expect(again.queue.pending.batches.count == texts.waiting.count)
        #expect(try again.documents.run(Query(collectionID: texts.collection)).count == 140)
    }

    @Test func `what SQLite writes beside the file is in memory`() throws {
        let disk = try LossyDisk(seed: 0)
        let store = try LocalStore(
            .file(disk.path("cache.sqlite")), database: Self.database, key: AtRest.encrypted.key)
        let kept = try store.store.read { try $0.rows("PRAGMA temp_store")[0].integer(0) }
        #expect(kept == 2, "in memory")
    }
}

// MARK: - Keys

extension EncryptedFileTests {
    private func made(_ atRest: AtRest, at path: String) throws -> Data {
        let store = try LocalStore(.file(path), database: Self.database, key: atRest.key)
        _ = try store.queue.enqueue(
            [Mutation(path: DocumentPath(unchecked: "queue/w"), .set(["n": .integer(1)]))],
            at: Timestamp(microseconds: 1))
        try store.close()
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private struct Locked: Error {}

    private static let locked: StoreKeySource = { throw Locked() }
    private static let otherKeys: [(AtRest, StoreKeySource?, StoreError)] = [
        (.encrypted, AtRest.otherKey, .wrongKey), (.encrypted, nil, .keyMissing),
        (.encrypted, locked, .keyUnavailable(detail: "Locked()")),
        (.plain, AtRest.otherKey, .notEncrypted),
    ]

    @Test(arguments: otherKeys)
    func `another key is told from damage, and loses nothing`(
        atRest: AtRest, key: StoreKeySource?, error: StoreError
    ) throws {
        let disk = try LossyDisk(seed: 0)
        let path = disk.path("cache.sqlite")
        let before = try made(atRest, at: path)
        for _ in 0..<2 {
            #expect(throws: error) {
                try LocalStore.opening(
                    .file(path), database: Self.database, user: nil, key: key, fault: nil)
            }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        let names = try FileManager.default.contentsOfDirectory(atPath: disk.folder)
        #expect(names == ["cache.sqlite"])
        let store = try LocalStore(.file(path), database: Self.database, key: atRest.key)
        #expect(store.queue.pending.batches.count == 1)
    }

    /// Version 2 derived keys without HKDF. Version 4 does not exist yet.
    @Test(arguments: [(UInt8(2), StoreError.olderEncryption), (4, .newerSchema)])
    func `an intact header of another version is told from damage, and loses nothing`(
        version: UInt8, error: StoreError
    ) throws {
        let disk = try LossyDisk(seed: 0)
        let path = disk.path("cache.sqlite")
        var bytes = try made(.encrypted, at: path)
        let sum = bytes[4..<28].withUnsafeBytes {
            PageChecksum.of($0, number: 0x7464_6d30 + UInt64(version))
        }
        bytes[3] = version
        bytes.replaceSubrange(28..<36, with: withUnsafeBytes(of: sum) { Data($0) })
        try bytes.write(to: URL(fileURLWithPath: path))
        for key in [AtRest.encrypted.key, nil] {
            #expect(throws: error) {
                try LocalStore.opening(
                    .file(path), database: Self.database, user: nil, key: key, fault: nil)
            }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    }

    @Test func `another key is told from damage in every damaged file`() throws {
        let disk = try LossyDisk(seed: 0)
        let path = disk.path("cache.sqlite")
        let whole = try made(.encrypted, at: path)
        for bit in 0..<SealedHeader.size * 8 {
            var bytes = whole
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            try bytes.write(to: URL(fileURLWithPath: path))
            do {
                // The file opens without its marker.
                _ = try DocumentStore(
                    .file(path), migrations: LocalSchema.migrations, key: AtRest.encrypted.key)
                #expect(bit < 32)
            } catch { #expect(error.recovery == .rebuild, "bit \(bit): \(error)") }
            #expect(throws: StoreError.keyMissing, "bit \(bit)") { try DocumentStore(.file(path)) }
        }
    }

    @Test func `two files of one key have nothing in common`() throws {
        let disk = try LossyDisk(seed: 0)
        let files = try ["a", "b"].map { try made(.encrypted, at: disk.path($0 + ".sqlite")) }
        let pages = files.map { file in
            Set(stride(from: 0, to: file.count, by: 16).map { file[$0..<$0 + 16] })
        }
        #expect(pages[0].isDisjoint(with: pages[1]))
        // No two blocks are equal, not even in pages of zeros.
        #expect(pages[0].count == files[0].count / 16)
    }

    @Test func `what is left of a damaged file's queue is saved, and waits for the key`() throws {
        let disk = try LossyDisk(seed: 0)
        let path = disk.path("cache.sqlite")
        var bytes = try made(.encrypted, at: path)
        // The damage is in page 1, which lists where tables begin.
        bytes[2_000] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        // The key is available once, to find the damage, and then no longer.
        let calls = Calls()
        #expect(throws: StoreError.keyUnavailable(detail: "Locked()")) {
            try LocalStore.opening(
                .file(path), database: Self.database, user: nil,
                key: {
                    if calls.next() > 0 { throw Locked() }
                    return try AtRest.encrypted.key!()
                }, fault: nil)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        let store = try LocalStore.opening(
            .file(path), database: Self.database, user: nil, key: AtRest.encrypted.key, fault: nil)
        #expect(store.queue.pending.batches.count == 1)
        #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
    }

    @Test func `a view of a busy cache takes the key`() throws {
        let disk = try LossyDisk(seed: 0)
        let path = disk.path("cache.sqlite")
        _ = try made(.encrypted, at: path)
        let owner = try LocalStore(.file(path), database: Self.database, key: AtRest.encrypted.key)
        func open(_ key: StoreKeySource?) throws -> OpenedCache {
            var configuration = SyncEngine.Configuration(
                database: Self.database, cacheFile: path)
            configuration.busyCache = .view
            let time = VirtualScheduler()
            var environment = SyncEnvironment(
                transport: ScriptedTransport(), scheduler: time, now: { time.now },
                random: { 0.5 })
            environment.cacheEncryption = key.map { CacheEncryption(key: $0) }
            return try CacheOpening(configuration, environment).open(nil)
        }
        let view = try open(AtRest.encrypted.key)
        #expect(view.isView)
        #expect(view.local.queue.pending.batches.count == 1)
        #expect(throws: StoreError.wrongKey) { try open(AtRest.otherKey) }
        try owner.close()
    }
}

private final class Calls: @unchecked Sendable {  // of one thread
    private var count = -1

    func next() -> Int {
        count += 1
        return count
    }
}
